public import OperationCore

/// Whether the runs of an operation wait while the network is away.
@nonexhaustive(warn)
public enum NetworkMode: Hashable, Sendable {
  /// A run that begins while the network is away pauses until it is back, and so does each retry.
  case online

  /// The first attempt runs in any case. Before a retry the run pauses until the network is back.
  ///
  /// The wait does not count as an attempt. So an operation that needs no network, such as one that calls a neighbour
  /// of this machine, works while the network is away.
  case offlineFirst

  /// Runs do not wait for the network.
  case always
}

extension OperationRequest {
  /// Sets whether the runs of the operation wait while the network is away.
  ///
  /// While a run is paused, `isPaused` of the state is true. ``satisfiedConnectionStatus(_:)`` sets how well the
  /// network has to be connected. The status comes from the observer of ``networkObserver(_:)`` or of the client.
  /// Without either, the kernel is observed on Linux, and the network counts as connected elsewhere.
  ///
  /// - Parameter mode: The mode. A mode nearer to the operation replaces it.
  /// - Returns: The operation, whose runs wait for the network as the mode says.
  public func networkMode(_ mode: NetworkMode) -> ModifiedOperation<Self, NetworkModeModifier<Self>> {
    self.modifier(NetworkModeModifier(mode: mode))
  }

  /// Sets the observer of the network for which the runs of ``networkMode(_:)`` wait.
  ///
  /// - Parameter observer: The observer. An observer nearer to the operation replaces it.
  /// - Returns: The operation with the observer in its context.
  public func networkObserver(_ observer: some NetworkObserver & Sendable) -> ContextModifiedOperation<Self> {
    // Created once, so that all runs share the status that the condition remembers.
    let connection = NetworkConnectionRunSpecification(observer: observer)
    return self.context { $0.operationNetworkConnection = connection }
      .written(".networkObserver(\(type(of: observer)))")
  }
}

/// Applies a ``NetworkMode``; used by ``OperationCore/OperationRequest/networkMode(_:)``.
public struct NetworkModeModifier<Operation: OperationRequest>: OperationModifier {
  let mode: NetworkMode

  public var sourceText: String { ".networkMode(.\(self.mode))" }

  /// Writes the mode to the context.
  public func setup(context: inout OperationContext, using operation: Operation) {
    context.operationNetworkMode = self.mode
    operation.setup(context: &context)
  }

  /// Pauses the run in the mode ``NetworkMode/online`` while the network is away, and then runs the operation.
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    // The mode of the context, because a modifier nearer to the operation may have replaced the mode of this one.
    if let network = context.networkWait, network.mode == .online,
      await context.pause(until: network) == .cancelled, let error = CancellationError() as? Operation.Failure
    {
      throw error
    }
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

extension OperationContext {
  /// Whether runs wait while the network is away. The default is ``NetworkMode/always``.
  ///
  /// The umbrella module sets ``NetworkMode/offlineFirst``. Setting a mode replaces
  /// `operationNextAttemptSpecification`. The first attempt waits in the mode ``NetworkMode/online`` only if the
  /// operation has the modifier ``OperationCore/OperationRequest/networkMode(_:)``.
  public var operationNetworkMode: NetworkMode {
    get { self.networkWait?.mode ?? .always }
    set { self.networkWait = NetworkWait(mode: newValue, connection: self.operationNetworkConnection) }
  }

  /// The condition for which runs wait; nil to observe the kernel on Linux, and to wait for none elsewhere.
  public var operationNetworkConnection: NetworkConnectionRunSpecification? {
    get { self.networkWait?.connection }
    set { self.networkWait = NetworkWait(mode: self.operationNetworkMode, connection: newValue) }
  }

  // The mode and the condition share one entry of the context, because each entry costs memory in every store.
  var networkWait: NetworkWait? {
    get { self.operationNextAttemptSpecification as? NetworkWait }
    set { self.operationNextAttemptSpecification = newValue }
  }
}

/// Holds while a run may use the network: while it is connected well enough, or in the mode `always`.
struct NetworkWait: OperationRunSpecification, Sendable {
  let mode: NetworkMode
  let connection: NetworkConnectionRunSpecification?

  func isSatisfied(in context: OperationContext) -> Bool {
    if self.mode == .always { return true }
    return self.usedConnection?.isSatisfied(in: context) ?? true
  }

  func subscribe(
    in context: OperationContext,
    onChange: @escaping @Sendable () -> Void
  ) -> OperationSubscription {
    if self.mode == .always { return .empty }
    return self.usedConnection?.subscribe(in: context, onChange: onChange) ?? .empty
  }

  private var usedConnection: NetworkConnectionRunSpecification? { self.connection ?? Self.systemConnection }

  #if os(Linux)
    private static let systemConnection: NetworkConnectionRunSpecification? = .connected(to: .startingShared())
  #else
    private static let systemConnection: NetworkConnectionRunSpecification? = nil
  #endif
}

extension NetworkWait: CustomStringConvertible {
  /// What a run waits for, to follow "until".
  var description: String { self.usedConnection?.description ?? "the network is connected" }
}
