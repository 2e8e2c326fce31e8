internal import OperationCore
internal import Synchronization

/// The places that a hedge has in a modifier outside of it that counts runs, such as a limit. There is one for the hedged run, and
/// one for each further run that the modifier has admitted.
///
/// A run has its place until all of its work has ended, also what a timeout inside has left behind.
final class HedgePlaces: Sendable {
  private struct State: Sendable {
    /// Whether no run is in the place of the hedged run.
    var isOwnFree = false
    /// The runs in other places, by their indices.
    var further: [Int: FurtherRun] = [:]
  }

  private let state = Mutex(State())
  private let context: OperationContext

  /// Creates the places of a hedged run in something that counts runs. The first run has a place.
  init(in context: OperationContext) {
    self.context = context
    // What an earlier attempt of the run has left behind has a place of its own.
    if LeftWork.exists {
      context.afterLeftWork(claimedBy: ObjectIdentifier(self)) { withExtendedLifetime(self) {} }
    }
  }

  /// Takes a place for a run. Returns false if there is none.
  func take(for index: Int) -> Bool {
    let isOwn = self.state.withLock { state in
      defer { state.isOwnFree = false }
      return state.isOwnFree
    }
    if isOwn { return true }
    guard let further = self.context.beginFurtherRun() else { return false }
    self.state.withLock { $0.further[index] = further }
    return true
  }

  /// Gives back the place of a run that does not begin after all.
  func cancel(_ index: Int) {
    self.giveBack(index) { $0.cancel() }
  }

  /// Gives back the place of a run when all of its work has ended.
  func leave(_ index: Int, after error: (any Error)?) {
    self.context.afterLeftWork(claimedBy: ObjectIdentifier(self)) {
      self.giveBack(index) { $0.end(after: error) }
    }
  }

  private func giveBack(_ index: Int, _ end: (FurtherRun) -> Void) {
    let further = self.state.withLock { state in
      let further = state.further.removeValue(forKey: index)
      if further == nil { state.isOwnFree = true }
      return further
    }
    if let further { end(further) }
  }
}
