public import OperationCore

extension OperationNotice.Name {
  /// The number of a limit has changed: that of an adaptive limit, or that of a limit whose settings were updated.
  ///
  /// The attribute `limit.value` is the new number, `limit.reason` why it has changed, and `limit.name` the name of the
  /// limit. The number of a rate limit is the number of runs in a second.
  public static let limitChanged = Self("limit.changed")
}

/// A change of the number of a limit.
struct LimitChange: Sendable {
  let earlier: Double
  let value: Double
  /// A text without an allocation: most ends of runs change nothing.
  let reason: StaticString

  init(from earlier: Double, to value: Double, reason: StaticString) {
    self.earlier = earlier
    self.value = value
    self.reason = reason
  }

  init(from earlier: Int, to value: Int, reason: StaticString) {
    self.init(from: Double(earlier), to: Double(value), reason: reason)
  }

  init(from earlier: Int, to value: Int, reason: AdaptiveLimitSnapshot.Reason) {
    self.init(from: Double(earlier), to: Double(value), reason: reason.text)
  }
}

extension AdaptiveLimitSnapshot.Reason {
  fileprivate var text: StaticString {
    switch self {
    case .initial: "initial"
    case .doubling: "doubling"
    case .growing: "growing"
    case .durations: "durations"
    case .failures: "failures"
    case .update: "update"
    }
  }
}

extension OperationContext {
  /// Sends a notice if the number of a limit has changed. Called without a lock.
  func sendIfChanged(_ change: LimitChange, of name: String?) {
    guard change.value != change.earlier else { return }
    self.send(OperationNotice(.limitChanged, attributes: change.attributes(of: name)))
  }
}

extension LimitChange {
  fileprivate func attributes(of name: String?) -> [String: OperationNotice.Value] {
    var attributes: [String: OperationNotice.Value] = [
      "limit.value": .number(self.value), "limit.reason": .string("\(self.reason)"),
    ]
    if let name { attributes["limit.name"] = .string(name) }
    return attributes
  }
}
