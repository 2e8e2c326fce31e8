internal import OperationFoundation

/// The content of a ``QueryState`` without its types, copied on write: each event carries a copy of the state, and most
/// copies are never modified.
struct QueryContent: Sendable {
  /// The value, in the form in which it was set.
  enum Value: Sendable {
    case none
    /// A ``RunSuccess`` of the value.
    case value(RunOutcome)
    /// A ``RunSuccess`` of the optional value.
    case optional(RunOutcome)
    /// An initial value with a date.
    case dated(DatedValue)

    /// Makes the value of a state; nil for none.
    init<V: Sendable>(_ value: V?) {
      // Not by `map(_:)`, which looks types up.
      if let value { self = .value(RunSuccess(value)) } else { self = .none }
    }

    /// Makes an initial value with a date.
    init<V: Sendable>(_ value: V, date: Date) {
      self = .dated(DatedValue(value: RunSuccess(value), date: date))
    }

    /// The date of an initial value; nil if it has none.
    var date: Date? { if case .dated(let dated) = self { dated.date } else { nil } }

    /// Whether there is no value. A value that is nil itself is one.
    var isNone: Bool { if case .none = self { true } else { false } }

    func get<V: Sendable>(_ type: V.Type) -> V? {
      switch self {
      case .none: nil
      // Each case was made with this type: see the cases.
      case .value(let outcome): unsafeDowncast(outcome, to: RunSuccess<V>.self).value
      case .optional(let outcome): unsafeDowncast(outcome, to: RunSuccess<V?>.self).value
      case .dated(let dated): unsafeDowncast(dated.value, to: RunSuccess<V>.self).value
      }
    }
  }

  /// An initial value and its date, in one object: most initial values have no date, and states stay small.
  final class DatedValue: Sendable {
    /// A ``RunSuccess`` of the value.
    let value: RunOutcome
    let date: Date

    init(value: RunOutcome, date: Date) {
      self.value = value
      self.date = date
    }
  }

  /// The last error, and the number and last date of all errors.
  final class Failures: Sendable {
    /// The last error; nil when a value was set after it.
    let error: RunOutcome?
    let count: Int
    let lastDate: Date

    init(error: RunOutcome?, count: Int, lastDate: Date) {
      self.error = error
      self.count = count
      self.lastDate = lastDate
    }
  }

  struct Fields: Sendable {
    var activeTasks: [ErasedTask] = []
    /// Nil until the first error: most states never have one.
    var failures: Failures?
    var valueUpdateCount = 0
    /// When the value was last set. Meaningless while `valueUpdateCount` is 0.
    var valueDate = Date(timeIntervalSinceReferenceDate: 0)
    /// The stamp of the value. Meaningless while `valueUpdateCount` is 0.
    var stamp = ValueStamp(.initial)
    var currentValue: Value
    let initialValue: Value
  }

  private final class Storage: @unchecked Sendable {
    // Unchecked because it is mutated only while it has a single reference, which also makes accesses exclusive:
    // checked, together with those to the store's machine they take 610 of the 1,740 instructions that set a value.
    @exclusivity(unchecked) var fields: Fields

    init(_ fields: Fields) {
      self.fields = fields
    }
  }

  private var storage: Storage

  init(initialValue: Value) {
    self.storage = Storage(Fields(currentValue: initialValue, initialValue: initialValue))
  }

  var fields: Fields {
    _read { yield self.storage.fields }
    _modify {
      if !isKnownUniquelyReferenced(&self.storage) { self.storage = Storage(self.storage.fields) }
      yield &self.storage.fields
    }
  }
}

// MARK: - Runs

extension QueryContent {
  private func index(of task: ErasedTask) -> Int? { self.fields.activeTasks.lastIndex { $0.id == task.id } }

  mutating func schedule(_ task: ErasedTask) {
    self.fields.activeTasks.append(task)
  }

  mutating func replace(_ task: ErasedTask) {
    if let index = self.index(of: task) { self.fields.activeTasks[index] = task }
  }

  mutating func finish(_ task: ErasedTask) {
    guard let index = self.index(of: task) else { return }
    if index == self.fields.activeTasks.count - 1 {
      self.fields.activeTasks.removeLast()
    } else {
      self.fields.activeTasks.remove(at: index)
    }
  }

  /// Restores the initial state. Returns the tasks to cancel.
  mutating func reset() -> [ErasedTask] {
    let tasks = self.fields.activeTasks
    self = QueryContent(initialValue: self.fields.initialValue)
    return tasks
  }
}

// MARK: - Results

extension QueryContent {
  /// Sets a value or an error.
  ///
  /// - Parameters:
  ///   - outcome: The value or the error.
  ///   - form: Makes the value from a successful outcome.
  ///   - context: The context whose clock dates the change.
  mutating func set(_ outcome: RunOutcome, as form: (RunOutcome) -> Value, using context: OperationContext) {
    let date = context.date
    guard outcome.isSuccess else {
      let count = self.fields.failures?.count ?? 0
      self.fields.failures = Failures(error: outcome, count: count + 1, lastDate: date)
      return
    }
    self.fields.currentValue = form(outcome)
    self.fields.valueUpdateCount += 1
    self.fields.valueDate = date
    self.fields.stamp = context.event.stamp
    self.forgetError()
  }

  mutating func forgetError() {
    if let failures = self.fields.failures, failures.error != nil {
      self.fields.failures = Failures(error: nil, count: failures.count, lastDate: failures.lastDate)
    }
  }

  /// If the value has this number of updates, which is at least 1, dates it anew. Returns whether it was done.
  mutating func renewValue(withCount count: Int, using context: OperationContext) -> Bool {
    guard count > 0, self.fields.valueUpdateCount == count else { return false }
    self.fields.valueDate = context.date
    self.fields.stamp = context.event.stamp
    self.forgetError()
    return true
  }

  /// The value and the error, retained so that a change does not destroy them.
  var retainedValues: RetainedValues {
    RetainedValues(value: self.fields.currentValue, error: self.fields.failures)
  }
}
