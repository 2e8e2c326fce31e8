public import OperationFoundation

/// A state that can be saved and given to a store that is created later, such as after a restart.
///
/// A module that stores states uses this protocol. ``QueryState`` and states with a default value conform to it.
/// Conform a custom state to store it, too.
public protocol RestorableState: OperationState {
  /// The part of a state that is saved.
  associatedtype Restoration: Sendable

  /// The type of the value in a restoration.
  associatedtype RestorableValue: Sendable

  /// The value, its dates and counts, for a later ``restore(_:)``; nil if no value was set since the last reset.
  var restoration: Restoration? { get }

  /// The value in ``restoration``; nil if there is none.
  var restorableValue: RestorableValue? { get }

  /// When the value in a restoration was last set; nil if that is unknown.
  static func valueDate(of restoration: Restoration) -> Date?

  /// Applies a restoration, unless a value was set since the state was created or an initial value is newer.
  ///
  /// The store calls this with its lock held.
  mutating func restore(_ restoration: Restoration)

  /// Applies a restoration in place of an older value, as a change of that value.
  ///
  /// The store calls this with its lock held. The default does nothing, so that the state keeps its value.
  mutating func replaceValue(with restoration: Restoration)
}

extension RestorableState {
  public mutating func replaceValue(with restoration: Restoration) {}
}

/// The restoration of a state with one value.
public struct StoredValue<Value: Sendable>: Sendable {
  /// The value; nil if the state was set to no value.
  public let value: Value?

  /// The number of times the value was set.
  public let valueUpdateCount: Int

  /// When the value was last set.
  public let valueLastUpdatedAt: Date

  /// The number of times an error was set.
  public let errorUpdateCount: Int

  /// When an error was last set; nil if none was.
  public let errorLastUpdatedAt: Date?

  /// Creates a restoration.
  public init(
    value: Value?,
    valueUpdateCount: Int,
    valueLastUpdatedAt: Date,
    errorUpdateCount: Int = 0,
    errorLastUpdatedAt: Date? = nil
  ) {
    self.value = value
    self.valueUpdateCount = valueUpdateCount
    self.valueLastUpdatedAt = valueLastUpdatedAt
    self.errorUpdateCount = errorUpdateCount
    self.errorLastUpdatedAt = errorLastUpdatedAt
  }
}

extension QueryState: RestorableState {
  public var restoration: StoredValue<Value>? {
    guard self.valueUpdateCount > 0, let date = self.valueLastUpdatedAt else { return nil }
    return StoredValue(
      value: self.currentValue,
      valueUpdateCount: self.valueUpdateCount,
      valueLastUpdatedAt: date,
      errorUpdateCount: self.errorUpdateCount,
      errorLastUpdatedAt: self.errorLastUpdatedAt
    )
  }

  public var restorableValue: Value? { self.valueUpdateCount > 0 ? self.currentValue : nil }

  public static func valueDate(of restoration: StoredValue<Value>) -> Date? { restoration.valueLastUpdatedAt }

  public mutating func restore(_ restoration: StoredValue<Value>) {
    guard self.valueUpdateCount == 0, restoration.valueUpdateCount > 0 else { return }
    // An initial value of a later date is newer.
    if let date = self.content.fields.initialValue.date, date > restoration.valueLastUpdatedAt { return }
    self.content.fields.currentValue = QueryContent.Value(restoration.value)
    self.content.fields.valueUpdateCount = restoration.valueUpdateCount
    self.content.fields.valueDate = restoration.valueLastUpdatedAt
    self.content.fields.stamp = ValueStamp(.final)
    guard restoration.errorUpdateCount > 0, let date = restoration.errorLastUpdatedAt else { return }
    // An error that was set while the value was being read is newer.
    let present = self.content.fields.failures
    self.content.fields.failures = QueryContent.Failures(
      error: present?.error,
      count: restoration.errorUpdateCount + (present?.count ?? 0),
      lastDate: present?.lastDate ?? date
    )
  }
}

extension QueryState {
  /// Takes over a stored value in place of an older one. An error that was set later than the value stays.
  public mutating func replaceValue(with restoration: StoredValue<Value>) {
    self.content.fields.currentValue = QueryContent.Value(restoration.value)
    self.content.fields.valueUpdateCount += 1
    self.content.fields.valueDate = restoration.valueLastUpdatedAt
    self.content.fields.stamp = ValueStamp(.final)
    if let failures = self.content.fields.failures, failures.lastDate <= restoration.valueLastUpdatedAt {
      self.content.forgetError()
    }
  }
}

extension DefaultOperationState: RestorableState where Base: RestorableState {
  public var restoration: Base.Restoration? { self.base.restoration }

  public var restorableValue: Base.RestorableValue? { self.base.restorableValue }

  public static func valueDate(of restoration: Base.Restoration) -> Date? { Base.valueDate(of: restoration) }

  public mutating func restore(_ restoration: Base.Restoration) {
    self.base.restore(restoration)
  }

  public mutating func replaceValue(with restoration: Base.Restoration) {
    self.base.replaceValue(with: restoration)
  }
}
