import pytest
from dozen import mark_beyond_a_dozen


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    mark_beyond_a_dozen(
        [item for item in items if item.path.is_relative_to(__file__.removesuffix("/conftest.py"))]
    )
