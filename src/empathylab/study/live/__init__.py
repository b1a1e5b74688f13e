"""Live replies: a participant writes, and a model, a person or the study file answers.

`settings` is the key `live` of the study file. `conversations` keeps what is said in the lab,
within the participant's transaction. `engine` asks models from the server's event loop. `masking`
replaces personal details, `safety` finds crisis words and replies that must not be shown, and
`costs` holds the limits on spending.

How a reply comes about:

1. The participant's page begins a conversation in the transaction that stores their answer: their
   words are its first turn, the reply is its second. A fixed reply is ready at once. A model's is
   pending. Both get a due time from the same distribution, before which nobody sees the reply.
2. An engine claims the pending turn for a few seconds, and renews the claim while it asks the
   model. The claim of a killed server runs out, and another engine takes the turn.
3. The engine stores the reply, or the declared fallback where the model fails, is too slow or says
   what must not be shown. It has time until the turn is due, so waiting does not identify the arm.
4. The page shows the reply once it is ready and due, and keeps when it did for the first time.
"""
