"""Where raters come from: invitations, and what Prolific and MTurk say of those they sent."""
