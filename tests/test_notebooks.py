"""The notebooks of the documentation run in a real Jupyter kernel, and so does the README."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.groups import unavailable

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "docs" / "notebooks"


@pytest.fixture(scope="module")
def script() -> Any:
    """The script that runs notebooks and writes their pages."""
    path = ROOT / "scripts" / "write_notebooks.py"
    spec = importlib.util.spec_from_file_location("write_notebooks", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def executed(script: Any, notebook: Path, folder: Path) -> Any:
    if importlib.util.find_spec("ipykernel") is None:
        unavailable("notebooks", "ipykernel is not installed")
    return script.execute(notebook, folder)


def texts(notebook: Any) -> str:
    """All that the cells printed or gave."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return "\n".join(
        output.get("text", "") + str(output.get("data", {}).get("text/plain", ""))
        for output in outputs
    )


@pytest.mark.notebooks
@pytest.mark.embedded
def test_the_first_evaluation_runs(script: Any, tmp_path: Path) -> None:
    done = executed(script, NOTEBOOKS / "first-evaluation.ipynb", tmp_path)
    assert "report.html" in texts(done)
    assert (tmp_path / "first-lab" / "reports" / "report.html").is_file()


@pytest.mark.notebooks
@pytest.mark.shared_data
@pytest.mark.usefixtures("shared_data")
@pytest.mark.slow
def test_the_study_of_welivita_and_pu_is_reproduced(script: Any, tmp_path: Path) -> None:
    said = texts(executed(script, NOTEBOOKS / "welivita.ipynb", tmp_path))
    assert "χ² = 96.77, +31.3% good ratings" in said
    assert "log-odds +0.747" in said


@pytest.mark.notebooks
@pytest.mark.embedded
@pytest.mark.shared_data
@pytest.mark.usefixtures("shared_data")
def test_emotionbench_compares_a_model_with_people(script: Any, tmp_path: Path) -> None:
    said = texts(executed(script, NOTEBOOKS / "emotionbench.ipynb", tmp_path))
    assert "gpt-3.5-turbo, panas: 1.13 from people" in said
    assert "local/smollm2, PANAS, positive" in said


@pytest.mark.notebooks
def test_a_study_is_designed_simulated_piloted_and_analysed(script: Any, tmp_path: Path) -> None:
    said = texts(executed(script, NOTEBOOKS / "study.ipynb", tmp_path))
    assert "ready to launch: True" in said
    assert "4 simulated raters, 0 lost, 0 errors" in said
    assert "the study is still open, so results by arm are not shown" in said


@pytest.mark.notebooks
def test_the_readmes_example_runs_in_a_kernel(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nbformat

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [code] = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    # A scripted model in place of the embedded one: seconds instead of minutes.
    code = code.replace("local/smollm2", "scripted/tests.helpers.labs:person_like")
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{ROOT / 'src'}")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    nbformat.write(notebook, tmp_path / "readme.ipynb")
    [cell] = executed(script, tmp_path / "readme.ipynb", tmp_path).cells
    assert "32 usable replies of 32" in "".join(str(output) for output in cell.outputs)
    # The bars of both runs, and the chart at the end: a picture that needs no script of the web.
    assert any("<progress" in str(output) for output in cell.outputs)
    assert set(cell.outputs[-1]["data"]) == {"image/svg+xml", "text/plain"}
    assert not any("<script" in str(output) for output in cell.outputs)


def test_the_pages_of_notebooks_are_up_to_date(script: Any) -> None:
    for name, text in script.pages().items():
        assert (NOTEBOOKS / name).read_text(encoding="utf-8") == text, (
            f"{name} is out of date; run: python scripts/write_notebooks.py --pages"
        )


def test_every_notebook_keeps_its_output_and_no_error() -> None:
    for path in NOTEBOOKS.glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = [cell for cell in cells if cell["cell_type"] == "code"]
        assert any(cell["outputs"] for cell in code), f"run scripts/write_notebooks.py {path.stem}"
        kinds = {output["output_type"] for cell in code for output in cell["outputs"]}
        assert "error" not in kinds
