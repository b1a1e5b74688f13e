"""Rated replies: arms compared, with the raters behind them."""
