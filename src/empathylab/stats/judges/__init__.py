"""Judges' ratings compared with people's: bias, calibration, prediction-powered inference."""
