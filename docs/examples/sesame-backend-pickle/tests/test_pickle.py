import pytest

from sesame_core.testing import BackendConformance


class TestPickle(BackendConformance):
    name = "pickle"

    @pytest.fixture
    def options(self, tmp_path):
        return {"path": tmp_path / "index.pickle"}
