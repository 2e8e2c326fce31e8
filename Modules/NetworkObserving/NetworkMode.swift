public import OperationCore

/// What the runs of an operation do while the network is away.
public enum NetworkMode: Hashable, Sendable {
  /// A run that begins while the network is away pauses until it is back, and so does each retry.
  case online

  /// The first attempt runs in any case. Before a retry the run pauses until the network is back.
  ///
  /// The wait counts as no attempt. So an operation that needs no network, such as one on a neighbour of this machine,
  /// does its work while the network is away.
  case offlineFirst

  /// The network is not asked.
  case always
}

extension OperationRequest {
  /// Sets what the runs of the operation do while the network is away.
  ///
  /// While a run is paused, `isPaused` of the state is true. How well the network has to be connected is that of
  /// ``satisfiedConnectionStatus(_:)``. Of several modes around one operation, the one nearest to it applies.
  ///
  /// The network is that of ``networkObserver(_:)`` or of the client. Without either, it is that of the kernel on Linux,
  /// and counts as connected elsewhere.
  ///
  /// - Parameter mode: The mode.
  public func networkMode(_ mode: NetworkMode) -> ModifiedOperation<Self, NetworkModeModifier<Self>> {
    self.modifier(NetworkModeModifier(mode: mode))
  }

  /// Sets the observer of the network that ``networkMode(_:)`` waits for.
  ///
  /// - Parameter observer: The observer. An observer nearer to the operation replaces it.
  public func networkObserver(_ observer: some NetworkObserver & Sendable) -> ContextModifiedOperation<Self> {
    // Made here, so that all runs share what the condition remembers.
    let connection = NetworkConnectionRunSpecification(observer: observer)
    return self.context { $0.operationNetworkConnection = connection }
  }
}

/// Applies a ``NetworkMode``; used by ``OperationCore/OperationRequest/networkMode(_:)``.
public struct NetworkModeModifier<Operation: OperationRequest>: OperationModifier {
  let mode: NetworkMode

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
    // The mode of the context: one nearer to the operation may have replaced that of this modifier.
    if let network = context.networkWait, network.mode == .online,
      await context.pause(until: network) == .cancelled, let error = CancellationError() as? Operation.Failure
    {
      throw error
    }
    return try await operation.run(isolation: isolation, in: context, with: continuation)
  }
}

extension OperationContext {
  /// What runs do while the network is away. The default is ``NetworkMode/always``.
  ///
  /// The umbrella module sets ``NetworkMode/offlineFirst``. It takes the place of
  /// `operationNextAttemptSpecification`. The mode ``NetworkMode/online`` needs
  /// ``OperationCore/OperationRequest/networkMode(_:)``, too.
  public var operationNetworkMode: NetworkMode {
    get { self.networkWait?.mode ?? .always }
    set { self.networkWait = NetworkWait(mode: newValue, connection: self.operationNetworkConnection) }
  }

  /// The condition of the network that runs wait for; nil for that of the kernel on Linux, and for none elsewhere.
  public var operationNetworkConnection: NetworkConnectionRunSpecification? {
    get { self.networkWait?.connection }
    set { self.networkWait = NetworkWait(mode: self.operationNetworkMode, connection: newValue) }
  }

  // One entry of the context has all of it, as each costs memory in every store.
  var networkWait: NetworkWait? {
    get { self.operationNextAttemptSpecification as? NetworkWait }
    set { self.operationNextAttemptSpecification = newValue }
  }
}

/// Holds while a run may use the network: while that is connected well enough, or if the mode does not ask it.
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
