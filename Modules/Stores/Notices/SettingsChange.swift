/// The settings of a modifier after an update, and their values before, as the attributes of a notice.
///
/// For a modifier with settings that can be changed while operations run. Each setting is an attribute with its present
/// value. A setting that has changed has a second attribute with its earlier value: `retry.limit.previous` for `retry.limit`.
///
/// ```swift
/// var change = SettingsChange(of: ["pool.name": .string(name)])
/// change.add("pool.size", from: .integer(earlier), to: .integer(current))
/// context.send(OperationNotice.Name("pool.settings_changed"), of: change)
/// ```
public struct SettingsChange: Sendable {
  /// The attributes of the notice.
  public private(set) var attributes: [String: OperationNotice.Value]
  /// Whether no setting has changed.
  public private(set) var isEmpty = true

  /// Creates a change without settings.
  ///
  /// - Parameter attributes: Attributes that say whose settings these are, such as a name.
  public init(of attributes: [String: OperationNotice.Value] = [:]) {
    self.attributes = attributes
  }

  /// Adds a setting.
  ///
  /// - Parameters:
  ///   - key: The name of the attribute.
  ///   - earlier: The value before the update; nil for none.
  ///   - current: The present value; nil for none.
  ///   - isReplaced: Whether the setting counts as changed although both have the same text, such as a function.
  public mutating func add(
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
  /// Sends a notice of updated settings to the observers of this context, unless no setting has changed.
  ///
  /// - Parameters:
  ///   - name: The kind of the notice.
  ///   - change: The change. Evaluated at most once, and not without observers; call this with no lock held.
  public func send(_ name: OperationNotice.Name, of change: @autoclosure () -> SettingsChange) {
    guard self.isObserved || self.noticesAreWatched else { return }
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
