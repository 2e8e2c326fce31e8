public import OperationCore

extension OperationNotice.Name {
  /// A limit has changed: the number of an adaptive limit, or a setting that was updated.
  ///
  /// The attribute `limit.value` is the present number, `limit.reason` why it has changed, and `limit.name` the name of the
  /// limit. The number of a rate limit is the number of runs in a second. An update adds the other settings of the limit,
  /// such as `limit.queue`. Attributes with `.previous` at the end are what has changed: `limit.value.previous` is the number
  /// before.
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
    self.send(.limitChanged, of: SettingsChange(of: name, change))
  }
}

extension SettingsChange {
  /// A change of the number of a limit.
  init(of name: String?, _ change: LimitChange) {
    self.init(of: name, reason: change.reason)
    self.add("limit.value", from: .number(change.earlier), to: .number(change.value))
  }

  /// A change of a limit, to which its settings are added.
  init(of name: String?, reason: StaticString = "update") {
    var attributes: [String: OperationNotice.Value] = ["limit.reason": .string("\(reason)")]
    if let name { attributes["limit.name"] = .string(name) }
    self.init(of: attributes)
  }

  /// Adds the settings of a queue.
  mutating func addQueue(from earlier: QueueSettings, to current: QueueSettings) {
    self.add("limit.queue", from: .integer(earlier.maximum), to: .integer(current.maximum))
    self.add("limit.order", from: .string(earlier.order.text), to: .string(current.order.text))
  }
}

/// What an update may change of the queue of a limit.
struct QueueSettings: Sendable {
  let maximum: Int
  let order: LimitOrder
}

extension LimitOrder {
  /// The order as it is written.
  fileprivate var text: String {
    switch self.rule {
    case .arrival: ".firstComeFirstServed"
    case .controlledDelay(let target, let interval):
      ".controlledDelay(target: \(target.roundedText), interval: \(interval.roundedText))"
    case .boundedDelay(let target, let interval):
      ".boundedDelay(target: \(target.roundedText), interval: \(interval.roundedText))"
    case .newestFirst(let interval): ".adaptiveLIFO(after: \(interval.roundedText))"
    }
  }
}
