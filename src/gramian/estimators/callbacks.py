"""scikit-learn's callbacks, where the installed version has them (1.9 and later): progress of a fit, told in its words.

::

    gramian.progress: task, done, expected  -->  fit                     one root, as every estimator has
                                                   task                  a child for each, named as we name it
                                                     one in a hundred    its children: what is done, in per cent
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Self

from gramian.config import Progress
from gramian.progress import listen

#: Whether the installed scikit-learn has callbacks.
KNOWN = find_spec("sklearn.callback") is not None
#: Steps into which a task is divided for those who watch.
STEPS = 100


class Callbacks:
    """What scikit-learn's ``CallbackSupportMixin`` gives; it is imported when first needed, for it loads rich."""

    if KNOWN:

        def set_callbacks(self, *callbacks: Any) -> Self:
            """Set callbacks of ``sklearn.callback``, such as ``ProgressBar()``, for the fits to come.

            Parameters
            ----------
            *callbacks : callbacks
                None of them: those that are set are taken off.

            Returns
            -------
            self
            """
            from sklearn.callback import CallbackSupportMixin

            return CallbackSupportMixin.set_callbacks(self, *callbacks)


def call(fit: Callable[..., Any], estimator: Any, *args: Any, **kwargs: Any) -> Any:
    """Call ``fit`` of an estimator that has callbacks, or works for one that has, and tell them how far it is."""
    if hasattr(estimator, "_callback_fit_ctx"):
        return fit(estimator, *args, **kwargs)
    from sklearn.callback import CallbackSupportMixin, with_callbacks

    X, y = (*args, None, None)[:2]

    def told(estimator: Any) -> Any:
        root = CallbackSupportMixin._init_callback_context(estimator, max_subtasks=None)
        root.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
        with Tasks(estimator, root) as tasks, listen(tasks):
            result = fit(estimator, *args, **kwargs)
        # Nothing is to be set: what is shown as fitted is a copy of the estimator as it is now.
        root.call_on_fit_task_end(estimator=estimator, X=X, y=y, reconstruction_attributes={})
        return result

    return with_callbacks(told)(estimator)


def unwatched(estimator: Any) -> Any:
    """Take the callbacks off an estimator, a clone for instance, whose fit is a small part of other work."""
    vars(estimator).pop("_skl_callbacks", None)
    return estimator


class Tasks:
    """Turns progress into tasks of scikit-learn: one for each of ours, and a hundred steps in each."""

    def __init__(self, estimator: Any, root: Any) -> None:
        self.estimator, self.root = estimator, root
        self.name, self.done, self.seconds = "", 0, 0.0
        self.task: Any = None

    def __call__(self, progress: Progress) -> None:
        if progress.task != self.name or progress.seconds < self.seconds:
            self._finish()
            self.name = progress.task
            self.task = self.root.subcontext(task_name=progress.task, max_subtasks=STEPS)
            self.task.call_on_fit_task_begin(estimator=self.estimator)
        self.seconds = progress.seconds
        reached = min(STEPS, int(STEPS * progress.done / progress.expected)) if progress.expected > 0 else 0
        for _ in range(self.done, reached):
            step = self.task.subcontext(task_name="step")
            step.call_on_fit_task_begin(estimator=self.estimator)
            step.call_on_fit_task_end(estimator=self.estimator)
        self.done = max(self.done, reached)

    def _finish(self) -> None:
        if self.task is not None:
            self.task.call_on_fit_task_end(estimator=self.estimator)
        self.task, self.done, self.seconds = None, 0, 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._finish()
