"""What holds for every line that a command prints: options that it names exist, and one thing is not several."""

import re

from typer.main import get_command

from gramian.cli.app import app

_COMMANDS = get_command(app).commands
#: Command -> the options that it has.
OPTIONS = {
    name: {flag for param in command.params for flag in (*param.opts, *param.secondary_opts)} | {"-h", "--help"}
    for name, command in _COMMANDS.items()
}
#: Words for what is counted.
NOUNS = "rows|columns|values|components|factors|pairs|sources|directions|targets|folds|clusters|classes|samples|files"
#: Parameters of Python that are options of the command line.
PARAMETERS = "n_components|scale|missing|ridge|random_state|categories|dates|labels|y_columns|x_columns|kernel_y"


def untrue(command, printed):
    """Lines that cannot be true of any table."""
    found = []
    # The program that does the same is Python; inspect shows parameters.
    lines = [line for line in printed.splitlines() if not line.startswith(("Python", " " * 11, "parameters", "{"))]
    lines = [line for line in lines if "No such option" not in line]
    for line in lines:
        named = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", line))
        elsewhere = set().union(*(OPTIONS[name] for name in re.findall(r"gramian (\w+)", line) if name in OPTIONS))
        if missing := named - OPTIONS.get(command, set()) - elsewhere:
            found.append(f"{command} has no {missing}: {line}")
        if re.search(rf"(?<![\d.,:/])1 ({NOUNS}|such values)\b", line):
            found.append(f"one is not several: {line}")
        if re.search(rf"\b({PARAMETERS})=", line) and not re.search(r"\b(how_many|select_kernel|read_\w+|\w+)\(", line):
            found.append(f"a parameter of Python: {line}")
    return found
