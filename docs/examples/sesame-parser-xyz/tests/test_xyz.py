import pytest

from sesame_core.testing import ParserConformance


class TestXyz(ParserConformance):
    name = "xyz"
    is_line_based = True

    @pytest.fixture
    def session_file(self, tmp_path):
        path = tmp_path / "one.xyz"
        path.write_text("xyz 1 s1 2026-05-08T12:00:00Z /w/app\n> hello\n< hello!\n> bye\n")
        return path
