"""Where numbers become conclusions: one result per topic, which everything else renders."""

from empathylab.analysis.results import AnalysisResult, Conclusion, ModelChoice

__all__ = ["AnalysisResult", "Conclusion", "ModelChoice"]
