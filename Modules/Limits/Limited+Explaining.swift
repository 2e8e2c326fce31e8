public import OperationCore

extension Limited: OperationExplaining {
  /// Tells the state of the limit: its snapshot or its description, if it has one.
  public func explain(_ store: OpaqueOperationStore, in inspection: inout StoreInspection) {
    guard let state = self.state(in: store.context) else { return }
    inspection.sections.append(StoreInspection.Section(title: "Limit", facts: [state]))
  }

  private func state(in context: OperationContext) -> String? {
    switch self.limit {
    case let limit as any ExplainedLimit: limit.state(in: context).description
    case let limit as any CustomStringConvertible: limit.description
    default: nil
    }
  }
}

/// A limit of this module.
protocol ExplainedLimit {
  var name: String? { get }

  /// The numbers of the limit at the time of a context.
  func state(in context: OperationContext) -> any OperationResilienceSnapshot
}

extension OperationLimit {
  /// The type of the limit, and its name if it has one.
  var title: String {
    let name = (self as? any ExplainedLimit)?.name
    return OperationName.of(Self.self) + (name.map { " \($0)" } ?? "")
  }
}

extension ConcurrencyLimit: ExplainedLimit {
  func state(in context: OperationContext) -> any OperationResilienceSnapshot { self.snapshot() }
}

extension RateLimit: ExplainedLimit {
  func state(in context: OperationContext) -> any OperationResilienceSnapshot { self.snapshot(in: context) }
}

extension AdaptiveLimit: ExplainedLimit {
  func state(in context: OperationContext) -> any OperationResilienceSnapshot { self.snapshot() }
}

extension PartitionedLimit: ExplainedLimit {
  func state(in context: OperationContext) -> any OperationResilienceSnapshot { self.snapshot() }
}

extension AdaptiveThrottle: ExplainedLimit {
  func state(in context: OperationContext) -> any OperationResilienceSnapshot { self.snapshot() }
}
