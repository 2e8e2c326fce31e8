import OperationFleet
import OperationFleetTesting
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded) struct InMemoryFleetTests {
  @Test func `A backend in memory keeps the rules`() async throws {
    let clock = ManualClock()
    try await checkFleetBackend(
      connecting: { $0.another() },
      passing: { _, duration in clock.advance(by: duration) },
      { TestConnection(to: InMemoryFleet(deadlines: clock)) }
    )
  }

  @Test func `A network that takes time keeps the rules`() async throws {
    let network = InMemoryFleet.Network(latency: .milliseconds(1)...(.milliseconds(2)))
    try await checkFleetBackend(
      [.leases, .invalidations, .messages, .concurrency, .connections],
      connecting: { $0.another() },
      { TestConnection(to: InMemoryFleet(network: network, seed: 3)) }
    )
  }
}
