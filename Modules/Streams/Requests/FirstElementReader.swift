internal import OperationCore

/// Answers readers of a stream whose elements are as good as an answer: they wait for the next element, and not for the end.
///
/// A caller that asks for a run, as `fetch()` does, gets what the run returns, when the stream has ended.
final class FirstElementReader: StoreCallInterceptor {
  private let record: StreamRecord

  init(_ record: StreamRecord) {
    self.record = record
  }

  nonisolated(nonsending) func call(_ call: StoreCall) async -> StoreCallAnswer {
    guard call.demand != .run, call.needsRun else { return await call.proceed() }
    return await withTaskGroup(of: StoreCallAnswer?.self) { group in
      // First, because a stream may have an element at once.
      group.addImmediateTask { await self.elementAnswer(to: call) }
      group.addImmediateTask { await call.proceed() }
      // The other one then leaves the run. Without other owners that closes the stream.
      defer { group.cancelAll() }
      while let answer = await group.next() {
        if let answer { return answer }
      }
      preconditionFailure("A call that is passed on has an answer.")
    }
  }

  /// The value with the first element that comes from now on; nil if the caller is cancelled.
  private nonisolated(nonsending) func elementAnswer(to call: StoreCall) async -> StoreCallAnswer? {
    var waiter = self.record.addWaiter()
    defer { self.record.remove(waiter) }
    while await waiter.value(cancelled: false) {
      if let answer = call.answerWithState() { return answer }
      // The store is invalidated, and an element of a stream from before is no answer. The next may have come meanwhile.
      waiter = self.record.addWaiter()
      if let answer = call.answerWithState() { return answer }
    }
    return nil
  }
}
