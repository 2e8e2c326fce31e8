public import OperationCore

extension StatefulOperationRequest where State: ValueServingState {
  /// `share` is the last share of the freshness: 0.2 is `refreshesEarly(after: 0.8)`.
  @available(
    *,
    deprecated,
    message: "Say after which share of the freshness: refreshesEarly(0.2) is refreshesEarly(after: 0.8)."
  )
  public func refreshesEarly(_ share: Double, retriesAfter period: Duration = .zero) -> ContextModifiedOperation<Self> {
    self.refreshesEarly(after: 1 - share, retriesAfter: period)
  }

  @available(*, deprecated, renamed: "servesStale(softTimeout:maximumAge:retriesAfter:)")
  public func servesStale(
    after softTimeout: Duration,
    for maximumAge: Duration,
    retriesAfter period: Duration = .zero
  ) -> ContextModifiedOperation<Self> {
    self.servesStale(softTimeout: softTimeout, maximumAge: maximumAge, retriesAfter: period)
  }

  @available(*, deprecated, renamed: "servesStale(onFailureFor:retriesAfter:)")
  public func servesStale(
    for maximumAge: Duration,
    retriesAfter period: Duration = .zero
  ) -> ContextModifiedOperation<Self> {
    self.servesStale(onFailureFor: maximumAge, retriesAfter: period)
  }
}
