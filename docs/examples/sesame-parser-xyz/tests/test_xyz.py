import pytest

from sesame_core.testing import ParserConformance


class TestXyz(ParserConformance):
    name = "xyz"
    is_line_based = True

    @pytest.fixture
    def session_file(self, tmp_path):
        path = tmp_path / "one.xyz"
        path.write_text("xyz 1 s1 /w/app\n> why does it blink?\n< a loose wire\n> thanks\n")
        return path
