package import OperationCore
internal import Synchronization

/// A place that a call has taken in the turn of its caller, and that it uses when it comes to its modifier.
package protocol CallPlace: AnyObject, Sendable {
  /// The run of the call.
  var run: OperationTaskIdentifier? { get }

  /// Gives the place up, unless the call has used it.
  func giveUp()

  /// Whether the current task is part of a call that the place is behind.
  var isBehindCurrentTask: Bool { get }
}

/// How the calls of a mutation take their places: in the scope, or in the journal, whichever is outside.
package final class CallOrder: Sendable {
  /// Takes a place for the call with a context; nil if the call takes it when it comes to the modifier.
  package typealias Taking = @Sendable (OperationContext) -> (any CallPlace)?

  /// Whether calls are stored before they are accepted.
  package let storesCalls: Bool
  private let take: Taking
  private let modifier: @Sendable (any Any.Type) -> Bool
  private let reach = Atomic<UInt8>(0)

  /// - Parameters:
  ///   - modifier: Returns true for the type of the modifier that uses the places.
  ///   - storesCalls: Whether calls are stored before they are accepted.
  ///   - take: Takes a place.
  package init(
    of modifier: @escaping @Sendable (any Any.Type) -> Bool,
    storesCalls: Bool,
    take: @escaping Taking
  ) {
    self.modifier = modifier
    self.storesCalls = storesCalls
    self.take = take
  }

  /// Takes a place for a call, if nothing delays the call before it comes to the modifier. A place that a waiting call
  /// held could stand in the way of the call that it waits for.
  func place(of operation: any OperationRequest.Type, in context: OperationContext) -> (any CallPlace)? {
    self.isReachedAtOnce(in: operation) ? self.take(context) : nil
  }

  /// Takes a place by the rule of this order, for an order outside of it that leaves a call to it.
  package func place(in context: OperationContext) -> (any CallPlace)? { self.take(context) }

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

/// Takes the places of calls.
private struct CallOrdering: OperationRunPreparation {
  // Not an entry of the context: a mutation that is called inside of a run, with its context, has another order.
  let order: CallOrder

  func runWillBegin(of operation: any OperationRequest.Type, in context: inout OperationContext) {
    let enqueued = context.enqueuedCall?.claim(by: context.operationRunningTaskIdentifier)
    guard let place = self.order.place(of: operation, in: context) else { return }
    context.callPlace = place
    enqueued?.setPlace(place)
  }

  func runDidEnd(in context: OperationContext) {
    guard let place = context.callPlace, place.run == context.operationRunningTaskIdentifier else { return }
    place.giveUp()
  }
}

extension OperationContext {
  /// How the calls of the mutation inside take their places; nil for calls without an order. Only during the setup.
  package var innerCallOrder: CallOrder? { self.runPreparation(of: CallOrdering.self)?.order }

  /// Makes the calls of the mutation take places.
  ///
  /// A modifier does this in its setup, after the setup of the operation inside: the outermost order counts.
  package mutating func setCallOrder(_ order: CallOrder) {
    self.setRunPreparation(CallOrdering(order: order))
    if order.storesCalls { self[StoresCallsKey.self] = true }
  }

  /// Whether the calls of the store with this context are stored before they are accepted.
  var storesCalls: Bool { self[StoresCallsKey.self] }

  /// The place of the call whose run has this context; nil if it has none.
  package var callPlace: (any CallPlace)? {
    get { self[CallPlaceKey.self] }
    set { self[CallPlaceKey.self] = newValue }
  }

  private enum StoresCallsKey: Key {
    static let defaultValue = false
  }

  private enum CallPlaceKey: Key {
    static let defaultValue: (any CallPlace)? = nil
  }
}
