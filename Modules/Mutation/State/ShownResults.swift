internal import FoundationEssentials

/// Which of the results of calls and setters show.
///
/// What shows is the newest result of the call that was started last, of those that have brought one. So a call that has
/// ended silences those that were started before it, whenever they end. What is set shows until a call brings something
/// after it. A value goes on showing while there are only errors after it.
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

  /// The last results of a call, or of all that are there to stay.
  private struct Results: Sendable {
    var value: Update<Value?>?
    var error: Update<Failure>?
    /// Which of the two came last; nil when something was set after both.
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

  /// What calls that have ended, and setters, have brought.
  private var settled = Results()
  /// The call that was started last of those that have ended: those before it are silent.
  private(set) var lastEndedCall = 0
  /// The calls that have brought the value and the error in `settled`. What those before them have brought is covered.
  private var valueCall = 0
  private var errorCall = 0
  /// What calls that are under way have yielded, which goes when they are cancelled.
  private var yielded = ChunkedMap<Int, Results>()

  private(set) var valueCount = 0
  private(set) var errorCount = 0
}

extension ShownResults {
  var value: Update<Value?>? { self.yielded.last(after: self.valueCall) { $0.value } ?? self.settled.value }

  /// The error that came last, also when a value came after it.
  var error: Update<Failure>? { self.yielded.last(after: self.errorCall) { $0.error } ?? self.settled.error }

  /// The error, unless a value shows that came after it.
  var presentError: Failure? {
    let newest = self.yielded.last(after: self.lastEndedCall) { $0.last == nil ? nil : $0 } ?? self.settled
    return newest.last == .error ? newest.error?.content : nil
  }
}

extension ShownResults {
  private mutating func count(_ result: Result<Value?, Failure>) {
    if case .success = result { self.valueCount += 1 } else { self.errorCount += 1 }
  }

  /// Something was set.
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

  /// A call has yielded.
  mutating func `yield`(_ result: Result<Value?, Failure>, by call: Int, at date: Date) {
    guard call > self.lastEndedCall else { return }
    self.count(result)
    var results = self.yielded[call] ?? Results()
    results.note(result, at: date)
    self.yielded.insert(results, for: call)
  }

  /// A call has ended.
  ///
  /// - Parameter result: What it has come to; nil where it leaves no more than it has yielded.
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

  /// A call was cancelled.
  mutating func rollBack(_ call: Int) {
    guard let results = self.yielded.removeValue(for: call) else { return }
    self.valueCount -= results.valueCount
    self.errorCount -= results.errorCount
  }
}
