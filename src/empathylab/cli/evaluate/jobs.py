"""An evaluation as the command line or a sweep file asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import typer

from empathylab.api.evaluation.gates import GateOptions
from empathylab.api.evaluation.measurement import Asked, Combination, JudgeOptions
from empathylab.api.evaluation.result import Evaluation
from empathylab.api.run_options import RunOptions
from empathylab.cli.evaluate.output_options import OutputOptions
from empathylab.cli.model_runs import conclude
from empathylab.cli.options import command_lab
from empathylab.errors import InputError, UserError
from empathylab.tracking import require_tracker


@dataclass(frozen=True, slots=True)
class Job:
    """What is evaluated."""

    names: list[str]
    way: Combination
    judge: JudgeOptions
    gates: GateOptions
    options: RunOptions
    name: str | None
    """For the run of replies."""

    def carry_out(self, lab: Path, output: OutputOptions, *, dry_run: bool) -> None:
        """Measures the models and prints the results; a dry run prints what it would take."""
        from empathylab.cli.evaluate.estimate import print_estimate
        from empathylab.cli.evaluate.output import show

        if output.track is not None:
            require_tracker(output.track)  # before anything is asked and paid for
        output.junit.require_file()
        judge, gates = self.judge, self.gates
        if any(name.lower().endswith((".yaml", ".yml")) for name in self.names):
            asked, judge, gates = self._from_file(need_keys=not dry_run)
        else:
            models = self.options.open_models(self.names, need_keys=not dry_run)
            asked = [(model, [self.way], self.options) for model in models]
        if dry_run:
            print_estimate(lab, asked, judge, gates, self.options, as_json=output.as_json)
            return
        with command_lab(lab) as opened:
            evaluation = opened.evaluate_ways(asked, judge, gates, self.options, name=self.name)
        show(evaluation, output)
        if output.track is not None:
            from empathylab.cli.evaluate.tracked import track_evaluation

            track_evaluation(output.track, evaluation, self.way, judge, lab=lab)
        if output.open_report:
            typer.launch(evaluation.report.resolve().as_uri())
        _conclude(evaluation)

    def _from_file(self, *, need_keys: bool) -> tuple[list[Asked], JudgeOptions, GateOptions]:
        """What a sweep file asks for; what it says itself cannot be given as an option too."""
        from empathylab.cli.evaluate.sweep import read_sweep

        judge = self.judge
        further = (judge.name, judge.base_url, judge.api_key_env)
        given = (
            self.gates != GateOptions()
            or self.way != Combination()
            or any(value is not None for value in further)
        )
        if given or len(self.names) > 1:
            raise InputError(
                "with a sweep file, the models, judge, gates, situations, replies, mode, "
                "temperatures, seeds and language come from the file",
                where=self.names[0],
                remedy="Set them in the file, and give only the file.",
            )
        sweep = read_sweep(Path(self.names[0]))
        elsewhere = [
            entry.name for entry in sweep.models if not (entry.base_url or entry.api_key_env)
        ]
        self.options.require_one_address(elsewhere)
        asked: list[Asked] = []
        for entry in sweep.models:
            options = entry.options(self.options)
            [model] = options.open_models([entry.name], need_keys=need_keys)
            asked.append((model, sweep.combinations(), options))
        return asked, sweep.judge_options(self.judge.planted), sweep.gate_options()


def _conclude(evaluation: Evaluation) -> None:
    """Says which conditions failed or had nothing to check, what is missing, and exits."""
    for gate in evaluation.gates:
        if not (gate.passed and gate.checked):
            typer.echo(str(gate), err=True)
    try:
        conclude(evaluation.asked)
    except UserError as error:  # a limit; a failed condition decides the exit code
        if not evaluation.failed:
            raise
        typer.echo(f"Error: {error}", err=True)
    if evaluation.failed:
        raise typer.Exit(1)
