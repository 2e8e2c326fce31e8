public import OperationCore

extension OperationRequest {
  // Disfavored, so that a trailing closure is a condition on errors.
  @available(*, deprecated, renamed: "retryOnValue(limit:where:)")
  @_disfavoredOverload
  public func retry(
    limit: Int,
    whileValue asksAgain: @escaping @Sendable (Value, OperationContext) -> Bool
  ) -> ModifiedOperation<Self, Retry<Self>> {
    self.retryOnValue(limit: limit, where: asksAgain)
  }

  @available(*, deprecated, renamed: "retryOnValue(limit:where:)")
  @_disfavoredOverload
  public func retry(
    limit: Int,
    whileValue asksAgain: @escaping @Sendable (Value) -> Bool
  ) -> ModifiedOperation<Self, Retry<Self>> {
    self.retryOnValue(limit: limit, where: asksAgain)
  }
}
