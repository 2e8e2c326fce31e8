import OperationCore
import OperationFleet

/// A connection that can open another one to the same backend.
final class TestConnection: FleetBackend {
  let fleet: InMemoryFleet
  let connection: InMemoryFleetConnection

  init(to fleet: InMemoryFleet, as name: String = "node") {
    self.fleet = fleet
    self.connection = fleet.connect(as: name)
  }

  func another() -> TestConnection { TestConnection(to: self.fleet, as: "other") }

  func lookUp(_ keys: [FleetKey]) async throws -> FleetLookup { try await self.connection.lookUp(keys) }

  func acquireLease(_ request: FleetLeaseRequest) async throws -> FleetLeaseAnswer {
    try await self.connection.acquireLease(request)
  }

  func renewLease(_ lease: FleetLease, for duration: Duration) async throws -> Bool {
    try await self.connection.renewLease(lease, for: duration)
  }

  func releaseLease(_ lease: FleetLease) async throws { try await self.connection.releaseLease(lease) }
  func store(_ write: FleetWrite) async throws -> FleetWriteAnswer { try await self.connection.store(write) }

  func invalidate(_ subjects: [FleetSubject], by node: String) async throws -> FleetEpoch {
    try await self.connection.invalidate(subjects, by: node)
  }

  func invalidations(since epoch: FleetEpoch) async throws -> FleetInvalidations {
    try await self.connection.invalidations(since: epoch)
  }

  func messages(_ handler: @escaping @Sendable (FleetMessage) -> Void) -> OperationSubscription {
    self.connection.messages(handler)
  }

  func close() async { await self.connection.close() }
}
