// Budgets are parameters of the modifiers here.
@_exported public import OperationAttempts
