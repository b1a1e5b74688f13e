"""What researchers do with a study: launch, monitor, review, delete, close."""
