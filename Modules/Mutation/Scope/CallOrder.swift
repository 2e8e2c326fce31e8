package import OperationCore
internal import Synchronization

/// A position that a call has taken in the turn of its caller, and that it uses when it comes to its modifier.
package protocol CallPosition: AnyObject, Sendable {
  /// The run of the call.
  var run: OperationTaskIdentifier? { get }

  /// Gives the position up, unless the call has used it.
  func giveUp()
}

/// How the calls of a mutation take their positions: in the scope, or in the journal, whichever is outside.
package final class CallOrder: Sendable {
  /// Takes a position for the call with a context; nil if the call takes it when it comes to the modifier.
  package typealias Taking = @Sendable (OperationContext) -> (any CallPosition)?
  /// Returns whether the current task is part of a call.
  package typealias Membership = @Sendable () -> Bool
  /// Finds out which calls the call with a context comes behind.
  package typealias Following = @Sendable (OperationContext) -> Membership

  /// Whether calls are stored before they are accepted.
  package let storesCalls: Bool
  private let take: Taking
  private let follow: Following
  /// The order inside of this one.
  private let inner: CallOrder?
  private let modifier: @Sendable (any Any.Type) -> Bool
  private let reach = Atomic<UInt8>(0)

  /// - Parameters:
  ///   - modifier: Returns true for the type of the modifier that uses the positions.
  ///   - inner: The order inside of this one.
  ///   - storesCalls: Whether calls are stored before they are accepted.
  ///   - take: Takes a position.
  ///   - follow: Finds out which calls of this order a call comes behind, whether or not it has taken a position.
  package init(
    of modifier: @escaping @Sendable (any Any.Type) -> Bool,
    around inner: CallOrder?,
    storesCalls: Bool,
    take: @escaping Taking,
    follow: @escaping Following
  ) {
    self.modifier = modifier
    self.inner = inner
    self.storesCalls = storesCalls
    self.take = take
    self.follow = follow
  }

  /// Takes a position for a call, if nothing delays the call before it comes to the modifier. A position that a waiting call
  /// held could stand in the way of the call that it waits for.
  func position(of operation: any OperationRequest.Type, in context: OperationContext) -> (any CallPosition)? {
    self.isReachedAtOnce(in: operation) ? self.take(context) : nil
  }

  /// Takes a position by the rule of this order, for an order outside of it that leaves a call to it.
  package func position(in context: OperationContext) -> (any CallPosition)? { self.take(context) }

  /// Returns whether the current task is part of a call that the call with a context comes behind, in this order or in one inside.
  func membership(ahead context: OperationContext) -> Membership {
    let (own, inner) = (self.follow(context), self.inner?.membership(ahead: context))
    return { own() || inner?() == true }
  }

  private func isReachedAtOnce(in operation: any OperationRequest.Type) -> Bool {
    switch self.reach.load(ordering: .relaxed) {
    case 1: return true
    case 2: return false
    default:
      // All runs of a store have the same operation.
      let isReached = operation.reachesAtOnce(where: self.modifier)
      self.reach.store(isReached ? 1 : 2, ordering: .relaxed)
      return isReached
    }
  }
}

/// Takes the positions of calls.
private struct CallOrdering: OperationRunPreparation {
  // Not an entry of the context: a mutation that is called inside of a run, with its context, has another order.
  let order: CallOrder

  func runWillBegin(of operation: any OperationRequest.Type, in context: inout OperationContext) {
    if let enqueued = context.enqueuedCall?.claim(by: context.operationRunningTaskIdentifier) {
      enqueued.note(ahead: self.order.membership(ahead: context))
    }
    guard let position = self.order.position(of: operation, in: context) else { return }
    context.callPosition = position
  }

  func runDidEnd(in context: OperationContext) {
    guard let position = context.callPosition, position.run == context.operationRunningTaskIdentifier else { return }
    position.giveUp()
  }
}

extension OperationContext {
  /// How the calls of the mutation inside take their positions; nil for calls without an order. Only during the setup.
  package var innerCallOrder: CallOrder? { self.runPreparation(of: CallOrdering.self)?.order }

  /// Makes the calls of the mutation take positions.
  ///
  /// A modifier does this in its setup, after the setup of the operation inside: the outermost order counts.
  package mutating func setCallOrder(_ order: CallOrder) {
    self.setRunPreparation(CallOrdering(order: order))
    if order.storesCalls { self[StoresCallsKey.self] = true }
  }

  /// Whether the calls of the store with this context are stored before they are accepted.
  var storesCalls: Bool { self[StoresCallsKey.self] }

  /// The position of the call whose run has this context; nil if it has none.
  package var callPosition: (any CallPosition)? {
    get { self[CallPositionKey.self] }
    set { self[CallPositionKey.self] = newValue }
  }

  private enum StoresCallsKey: Key {
    static let defaultValue = false
  }

  private enum CallPositionKey: Key {
    static let defaultValue: (any CallPosition)? = nil
  }
}
