internal import OperationFoundation

/// The results of calls and setters, and which of them the state shows.
///
/// The state shows the newest result of one call: of those with a result, the one that was started last. So once a call
/// has ended, calls that were started before it no longer change what is shown, whenever they end. A result that is set
/// is shown until a call yields or returns one after it. A value remains shown after later errors.
///
/// Calls are numbered in the order in which they started, from 1.
struct ShownResults<Value: Sendable, Failure: Error>: Sendable {
  struct Update<Content: Sendable>: Sendable {
    let content: Content
    let date: Date
  }

  private enum Kind: Sendable {
    case value
    case error
  }

  /// The last results of one call, or of all ended calls and setters.
  private struct Results: Sendable {
    var value: Update<Value?>?
    var error: Update<Failure>?
    /// The kind of the last result. Nil if something was set after it.
    var last: Kind?
    var valueCount = 0
    var errorCount = 0

    mutating func note(_ result: Result<Value?, Failure>, at date: Date) {
      switch result {
      case .success(let value):
        self.value = Update(content: value, date: date)
        self.last = .value
        self.valueCount += 1
      case .failure(let error):
        self.error = Update(content: error, date: date)
        self.last = .error
        self.errorCount += 1
      }
    }
  }

  /// The last results of ended calls and of setters.
  private var settled = Results()
  /// The call that was started last among those that have ended. Results of earlier calls are not shown.
  private(set) var lastEndedCall = 0
  /// The calls of the value and the error in `settled`. They hide the results of earlier calls.
  private var valueCall = 0
  private var errorCall = 0
  /// The results that active calls have yielded. A cancelled call takes its results along.
  private var yielded = ChunkedMap<Int, Results>()

  private(set) var valueCount = 0
  private(set) var errorCount = 0
}

extension ShownResults {
  var value: Update<Value?>? { self.yielded.last(after: self.valueCall) { $0.value } ?? self.settled.value }

  /// The last error, even if a value came after it.
  var error: Update<Failure>? { self.yielded.last(after: self.errorCall) { $0.error } ?? self.settled.error }

  /// The last error. Nil if a value came after it.
  var presentError: Failure? {
    let newest = self.yielded.last(after: self.lastEndedCall) { $0.last == nil ? nil : $0 } ?? self.settled
    return newest.last == .error ? newest.error?.content : nil
  }
}

extension ShownResults {
  private mutating func count(_ result: Result<Value?, Failure>) {
    if case .success = result { self.valueCount += 1 } else { self.errorCount += 1 }
  }

  /// Records a result that was set.
  mutating func set(_ result: Result<Value?, Failure>, at date: Date) {
    self.count(result)
    self.settled.note(result, at: date)
    if self.yielded.isEmpty { return }
    let isSuccess = result.isSuccess
    self.yielded.updateAll { results in
      results.last = nil
      if isSuccess { results.value = nil } else { results.error = nil }
    }
  }

  /// Records a result that a call has yielded.
  mutating func `yield`(_ result: Result<Value?, Failure>, by call: Int, at date: Date) {
    guard call > self.lastEndedCall else { return }
    self.count(result)
    var results = self.yielded[call] ?? Results()
    results.note(result, at: date)
    self.yielded.insert(results, for: call)
  }

  /// Records the end of a call.
  ///
  /// - Parameters:
  ///   - call: The number of the call.
  ///   - result: The final result. Nil if the call leaves only what it has yielded.
  ///   - date: The date of the result.
  mutating func end(_ call: Int, with result: Result<Value?, Failure>?, at date: Date) {
    var results = self.yielded.removeValue(for: call) ?? Results()
    if let result, call > self.lastEndedCall {
      self.count(result)
      results.note(result, at: date)
      self.settled.last = results.last
      self.lastEndedCall = call
    }
    if let value = results.value, call > self.valueCall {
      self.settled.value = value
      self.valueCall = call
    }
    if let error = results.error, call > self.errorCall {
      self.settled.error = error
      self.errorCall = call
    }
  }

  /// Removes the results of a cancelled call.
  mutating func rollBack(_ call: Int) {
    guard let results = self.yielded.removeValue(for: call) else { return }
    self.valueCount -= results.valueCount
    self.errorCount -= results.errorCount
  }
}
