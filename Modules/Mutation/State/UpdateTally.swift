internal import FoundationEssentials

/// What updates come to: how many there were, and the last value and error with their numbers, by which tallies of
/// updates that were made side by side can be added.
struct UpdateTally<Value: Sendable, Failure: Error>: Sendable {
  struct Update<Content: Sendable>: Sendable {
    let content: Content
    let number: Int
    let date: Date
  }

  private(set) var valueCount = 0
  private(set) var value: Update<Value?>?
  private(set) var errorCount = 0
  private(set) var error: Update<Failure>?

  /// The error, unless a value came after it.
  var presentError: Failure? {
    guard let error = self.error, error.number > self.value?.number ?? 0 else { return nil }
    return error.content
  }

  /// Notes an update.
  ///
  /// - Parameter number: Greater for later updates; at least 1.
  mutating func note(_ result: Result<Value?, Failure>, number: Int, at date: Date) {
    switch result {
    case .success(let value):
      self.valueCount += 1
      self.value = Update(content: value, number: number, date: date)
    case .failure(let error):
      self.errorCount += 1
      self.error = Update(content: error, number: number, date: date)
    }
  }

  mutating func add(_ other: Self) {
    self.valueCount += other.valueCount
    self.errorCount += other.errorCount
    if let value = other.value, value.number > self.value?.number ?? 0 { self.value = value }
    if let error = other.error, error.number > self.error?.number ?? 0 { self.error = error }
  }
}
