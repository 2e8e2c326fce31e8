import OperationCore
import OperationFleet
import OperationFleetTesting
import Testing

final class ServerFleet: FleetBackend {
  init() async throws {}

  func another() async throws -> ServerFleet { try await ServerFleet() }

  nonisolated(nonsending) func lookUp(_ keys: [FleetKey]) async throws -> FleetLookup { sample() }
  nonisolated(nonsending) func acquireLease(_ request: FleetLeaseRequest) async throws -> FleetLeaseAnswer { sample() }
  nonisolated(nonsending) func renewLease(_ lease: FleetLease, for duration: Duration) async throws -> Bool { sample() }
  nonisolated(nonsending) func releaseLease(_ lease: FleetLease) async throws {}
  nonisolated(nonsending) func store(_ write: FleetWrite) async throws -> FleetWriteAnswer { sample() }
  nonisolated(nonsending) func invalidate(
    _ subjects: [FleetSubject],
    by node: String
  ) async throws -> FleetEpoch { sample() }
  nonisolated(nonsending) func invalidations(since epoch: FleetEpoch) async throws -> FleetInvalidations { sample() }
  func messages(_ handler: @escaping @Sendable (FleetMessage) -> Void) -> OperationSubscription { .empty }
  nonisolated(nonsending) func close() async {}
}
