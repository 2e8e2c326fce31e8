/// What an update has changed of some settings, as the attributes of a notice.
///
/// Each setting has its present value. One with another value than before has that, too: the earlier value of `retry.limit`
/// is `retry.limit.previous`.
package struct SettingsChange: Sendable {
  package private(set) var attributes: [String: OperationNotice.Value]
  /// Whether all settings are what they were.
  package private(set) var isEmpty = true

  /// Creates a change of nothing.
  ///
  /// - Parameter attributes: The name of what the settings belong to, if it has one.
  package init(of attributes: [String: OperationNotice.Value] = [:]) {
    self.attributes = attributes
  }

  /// Adds a setting.
  ///
  /// - Parameters:
  ///   - key: The name of the attribute.
  ///   - earlier: The value before the update; nil for none.
  ///   - current: The present value; nil for none.
  ///   - isReplaced: Whether the setting counts as changed although both have the same text, such as a function.
  package mutating func add(
    _ key: String,
    from earlier: OperationNotice.Value?,
    to current: OperationNotice.Value?,
    isReplaced: Bool = false
  ) {
    self.attributes[key] = current
    guard isReplaced || earlier != current else { return }
    self.isEmpty = false
    self.attributes["\(key).previous"] = earlier
  }
}

extension OperationContext {
  /// Sends a notice of settings that were updated, unless all of them are what they were.
  ///
  /// - Parameters:
  ///   - name: The kind of the notice.
  ///   - change: Evaluated at most once, while no lock is held.
  package func send(_ name: OperationNotice.Name, of change: @autoclosure () -> SettingsChange) {
    guard self.isObserved || EventReaders.exist else { return }
    let change = change()
    if !change.isEmpty { self.deliver(OperationNotice(name, attributes: change.attributes)) }
  }
}

extension OperationNotice.Value? {
  /// What describes a setting, such as a function or a budget; nil for a setting that is nil.
  package static func text(_ setting: (some CustomStringConvertible)?) -> Self {
    setting.map { .string($0.description) }
  }
}
