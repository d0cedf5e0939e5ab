"""Write the model files of this version that must load for ever: ``python tests/models/make_data.py``.

Files that exist are left alone. A change of the format adds files under a new number; none is ever written anew.
"""

import runpy
import warnings
from pathlib import Path

import numpy as np

from gramian import models

HERE = Path(__file__).parent
FORMAT = 1
#: Which of the configurations in conftest.py is kept of an estimator, if not the first.
CHOSEN = {"PCA": 1, "FactorAnalysis": 1, "RandomProjection": 1, "KernelPCA": 3, "PLSRegression": 2}
QUESTIONS = ("transform", "predict", "predict_proba", "decision_function", "score_samples")


def main():
    conftest = runpy.run_path(str(HERE / "conftest.py"))
    warnings.simplefilter("ignore")
    for name in conftest["CLASSES"]:
        path = HERE / "data" / f"{name}-format{FORMAT}.safetensors"
        if path.exists():
            continue
        parameters, rows, targets = conftest["CONFIGURATIONS"][name][CHOSEN.get(name, 0)]
        model = conftest["fit"](name, parameters, rows, targets)
        asked = rows.toarray()[:3] if hasattr(rows, "toarray") else np.asarray(rows)[:3]
        answers = {key: getattr(model, key)(asked) for key in QUESTIONS if hasattr(model, key)}
        answers = {
            key: np.asarray(value, dtype=str if np.asarray(value).dtype == object else None)
            for key, value in answers.items()
        }
        models.save(model, path)
        np.savez(path.with_suffix(".npz"), rows=asked, **answers)
        print(path.name, path.stat().st_size, sorted(answers))


if __name__ == "__main__":
    main()
