internal import OperationCore
internal import Synchronization

/// The place of a probe in a half-open breaker, which is given back once.
///
/// A probe whose caller has gone gives it back at once, although its body may go on for long: it says nothing about the
/// service any more, and would keep the breaker half-open.
final class CircuitProbePlace: Sendable {
  private let breaker: CircuitBreaker
  private let generation: UInt64
  private let isTaken = Atomic<Bool>(true)

  init(of generation: UInt64, in breaker: CircuitBreaker) {
    self.generation = generation
    self.breaker = breaker
  }

  /// Ends the use of the place. Returns false if it was given back before.
  func end() -> Bool { self.isTaken.exchange(false, ordering: .acquiringAndReleasing) }

  /// Gives the place to the run that has waited longest.
  func giveBack(in context: OperationContext) {
    if self.end() { self.breaker.recordAbandonment(of: self.generation, in: context) }
  }
}
