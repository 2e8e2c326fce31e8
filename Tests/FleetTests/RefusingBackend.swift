import OperationCore
import OperationFleet

/// A connection whose backend refuses some calls with an error, as a standby server does.
final class RefusingBackend: FleetBackend {
  enum Call: Sendable, CaseIterable {
    case lookUp, acquireLease, renewLease, releaseLease, store, invalidate, invalidations

    static let writes: Set<Self> = [.acquireLease, .renewLease, .releaseLease, .store, .invalidate]
  }

  static let error = FleetError(code: .failed, message: "The server is a standby. Connect to the primary server.")

  private let base: InMemoryFleetConnection
  private let refusedCalls = Locked<Set<Call>>([])
  private let failure = Locked<FleetError?>(nil)

  init(_ base: InMemoryFleetConnection) {
    self.base = base
  }

  /// The calls that are refused from now on.
  var refused: Set<Call> {
    get { self.refusedCalls.withLock { $0 } }
    set { self.refusedCalls.withLock { $0 = newValue } }
  }

  var messagesFailure: FleetError? {
    get { self.failure.withLock { $0 } }
    set { self.failure.withLock { $0 = newValue } }
  }

  private func check(_ call: Call) throws {
    if self.refused.contains(call) { throw Self.error }
  }

  func lookUp(_ keys: [FleetKey]) async throws -> FleetLookup {
    try self.check(.lookUp)
    return try await self.base.lookUp(keys)
  }

  func acquireLease(_ request: FleetLeaseRequest) async throws -> FleetLeaseAnswer {
    try self.check(.acquireLease)
    return try await self.base.acquireLease(request)
  }

  func renewLease(_ lease: FleetLease, for duration: Duration) async throws -> Bool {
    try self.check(.renewLease)
    return try await self.base.renewLease(lease, for: duration)
  }

  func releaseLease(_ lease: FleetLease) async throws {
    try self.check(.releaseLease)
    try await self.base.releaseLease(lease)
  }

  func store(_ write: FleetWrite) async throws -> FleetWriteAnswer {
    try self.check(.store)
    return try await self.base.store(write)
  }

  func invalidate(_ subjects: [FleetSubject], by node: String) async throws -> FleetEpoch {
    try self.check(.invalidate)
    return try await self.base.invalidate(subjects, by: node)
  }

  func invalidations(since epoch: FleetEpoch) async throws -> FleetInvalidations {
    try self.check(.invalidations)
    return try await self.base.invalidations(since: epoch)
  }

  func messages(_ handler: @escaping @Sendable (FleetMessage) -> Void) -> OperationSubscription {
    self.base.messages(handler)
  }

  func close() async { await self.base.close() }
}
