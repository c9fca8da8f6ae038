"""How the text of a script is read and compiled."""

from cli.run_cases.case import Case

FIELDS = """
import dataclasses, typing
@dataclasses.dataclass
class Options:
    epochs: int = 3
    names: list = dataclasses.field(default_factory=list)
    later: "Options | None" = None
print([field.type for field in dataclasses.fields(Options)], Options(4))
print(Options.__annotations__, typing.get_type_hints(Options)["epochs"])
number: float = 1.5
print(__annotations__)
"""

CASES = {
    "types of fields": FIELDS,
    "types of fields as text": "from __future__ import annotations\n" + FIELDS,
    "types that are not defined": "def train(model: NoSuchModel): pass\n",
    "a feature of the future is not on": "print('annotations' in globals(), 1 != 2)\n",
    "a feature of the future": "from __future__ import barry_as_FLUFL\nprint(1 <> 2)\n",
    "a feature of the future too late": "print(1)\nfrom __future__ import annotations\n",
    "a feature that does not exist": "from __future__ import no_such_feature\n",
    "code compiled by the script": """
code = compile("def f(x: NoSuch): pass", "inner.py", "exec")
try:
    exec(code)
except NameError as error:
    print(error)
""",
    "Latin-1": "# coding: latin-1\nprint('é', ascii('é'))\n".encode("latin-1"),
    "Windows-1252, in the second line": "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n"
    "print('€'.encode())\n".encode("cp1252"),
    "UTF-8 with a mark": b"\xef\xbb\xbfprint('\xc3\xa9')\n",
    "UTF-8 with a mark, declared otherwise": b"\xef\xbb\xbf# coding: latin-1\nprint(1)\n",
    "no UTF-8": b"print('\xe9')\n",
    "an encoding that does not exist": "# coding: no-such-code\nprint(1)\n",
    "a byte of zero": b"print(1)\x00\nprint(2)\n",
    "lines of Windows": b"print('''a\r\nb'''.encode())\r\nprint(2)\r\n1 / 0\r\n",
    "no end of the last line": "print(1)",
    "no lines": "",
    "only a comment": "# nothing\n",
    "form feeds and tabs": "\f\nif True:\n\tprint(1)\n",
    "a syntax error": "print(1)\nfor\n",
    "a syntax error with letters of all kinds": "name = 'é世😀' +* 3\n",
    "a bracket that stays open": "print(1)\nvalues = [1,\n  2\nprint(2)\n",
    "wrong indentation": "if True:\n    print(1)\n  print(2)\n",
    "tabs and blanks": "if True:\n        print(1)\n\tprint(2)\n",
    "return outside of a function": "return 3\n",
    "a syntax error in a module beside it": Case(
        "import beside\n", files={"beside.py": "def f(:\n    pass\n"}
    ),
    "a warning of the compiler": "if 1 is 1:\n    print('\\d')\n",
    "asserts are left out": Case(
        "assert False\nprint(__debug__)\n", environment={"PYTHONOPTIMIZE": "1"}
    ),
    "an error on a long line": "total = (\n    1\n    + 2\n    + [3][4]\n)\n",
    "a deep expression": f"print({'(' * 60}1{')' * 60})\nprint({'+'.join(['1'] * 900)})\n",
}
