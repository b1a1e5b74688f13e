"""What recipients of replies say: effects of the true author and of the label, and change."""

from empathylab.analysis.recipients.analysis import from_lab, from_table
from empathylab.analysis.recipients.result import RecipientsResult

__all__ = ["RecipientsResult", "from_lab", "from_table"]
