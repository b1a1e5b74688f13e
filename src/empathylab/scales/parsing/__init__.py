"""The steps from a free answer to values by item, in the order in which they are taken.

tokens        folds the text (digits of all scripts, dashes, quotes) and splits it into tokens
values        reads one value where it stands: '4', '4/5', 'four', 'extremely'
labels        reads one item's number where it stands: '3.', '(3)', 'Item 3'
statements    reads an item with its value: '3. Upset: 4'
lines         reads all lines of a text
json_answers  reads JSON, alone or in a text
certainty     settles which item has which value, as far as that is certain
"""
