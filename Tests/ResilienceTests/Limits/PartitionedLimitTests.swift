import Foundation
import OperationCore
import OperationLimits
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct PartitionedLimitTests {
  private func context(_ tenant: String) -> OperationContext {
    var context = OperationContext()
    context.tenant = tenant
    return context
  }

  private func take(_ count: Int, _ limit: PartitionedLimit, _ tenant: String) -> [PartitionedLimit.Permit] {
    (0..<count).compactMap { _ in limit.takePermit(in: self.context(tenant)) }
  }

  @Test func `A tenant borrows what others do not use, except what they have reserved`() {
    let share = PartitionShare(guaranteed: 5, reserved: 2)
    let limit = PartitionedLimit(10, shares: ["gold": share, "silver": PartitionShare(guaranteed: 5)]) { $0.tenant }
    expect(self.take(10, limit, "greedy").count, equals: 8)
    #expect(self.take(5, limit, "silver").isEmpty)
    expect(self.take(5, limit, "gold").count, equals: 2)
    expect(limit.activeCount, equals: 10)
    expect(limit.snapshot().partitions.map(\.borrowed), equals: [0, 8, 0])
  }

  @Test func `A share may have a maximum, so that a tenant borrows only a part`() {
    let limit = PartitionedLimit(
      10,
      shares: ["gold": PartitionShare(guaranteed: 2, maximum: 4)],
      others: PartitionShare(guaranteed: 0, maximum: 3)
    ) { $0.tenant }
    expect(self.take(10, limit, "gold").count, equals: 4)
    expect(self.take(10, limit, "a").count, equals: 3)
    expect(self.take(10, limit, "b").count, equals: 3)
  }

  @Test func `Permits that come back go to the tenant with the first claim`() async throws {
    let limit = PartitionedLimit(4, shares: ["gold": PartitionShare(guaranteed: 2)]) { $0.tenant }
    var taken = self.take(4, limit, "greedy")
    let tasks = ["greedy", "greedy", "gold", "gold", "gold", "other"].map { tenant in
      Task.immediate { try await limit.waitForPermit(in: self.context(tenant), maximumWait: nil) }
    }
    expect(limit.waitingCount, equals: 6)
    // Gold up to its guarantee; then the tenants without a permit, before those that have some.
    for index in [2, 3, 5, 0] {
      limit.returnPermit(taken.removeFirst(), after: .succeeded, in: OperationContext())
      taken.append(try await tasks[index].value)
    }
    expect(limit.waitingCount, equals: 2)
    while let permit = taken.popLast() {
      limit.returnPermit(permit, after: .succeeded, in: OperationContext())
    }
    for index in [1, 4] {
      limit.returnPermit(try await tasks[index].value, after: .succeeded, in: OperationContext())
    }
    #expect(limit.activeCount == 0 && limit.waitingCount == 0)
  }

  @Test func `In a full queue the longest line pays, and not a tenant with few runs`() async throws {
    let limit = PartitionedLimit(1, queue: 3, name: "posts") { $0.tenant }
    let permits = self.take(1, limit, "greedy")
    let greedy = (0..<3).map { _ in
      Task.immediate { try await limit.waitForPermit(in: self.context("greedy"), maximumWait: nil) }
    }
    let other = Task.immediate { try await limit.waitForPermit(in: self.context("other"), maximumWait: nil) }
    await #expect(throws: OperationRejected(retryAfter: nil, name: "posts")) { try await greedy[2].value }
    // Its own line is the longest now.
    await #expect(throws: OperationRejected.self) {
      try await limit.waitForPermit(in: self.context("greedy"), maximumWait: nil)
    }
    for permit in permits { limit.returnPermit(permit, after: .succeeded, in: OperationContext()) }
    // By turns: the greedy tenant had the last one.
    for task in [other] + greedy.prefix(2) {
      limit.returnPermit(try await task.value, after: .succeeded, in: OperationContext())
    }
    #expect(limit.snapshot().rejections == 2 && limit.snapshot().partitions.isEmpty)
  }

  @Test func `An update moves the shares, and those who wait begin by the new ones`() async throws {
    let limit = PartitionedLimit(2, shares: ["gold": PartitionShare(guaranteed: 1)]) { $0.tenant }
    let permits = self.take(2, limit, "greedy")
    let silver = Task.immediate { try await limit.waitForPermit(in: self.context("silver"), maximumWait: nil) }
    #expect(limit.update(permits: 3, shares: ["silver": PartitionShare(guaranteed: 1)]))
    let permit = try await silver.value
    #expect(limit.activeCount == 3 && limit.snapshot().partitions.map(\.name) == ["greedy", "silver"])
    #expect(limit.update(permits: 1))
    for permit in permits + [permit] { limit.returnPermit(permit, after: .succeeded, in: OperationContext()) }
    expect(self.take(2, limit, "silver").count, equals: 1)
  }

  @Test func `Impossible shares are reported, and the last good ones stay`() {
    let limit = PartitionedLimit(10, shares: ["gold": PartitionShare(guaranteed: 5)]) { $0.tenant }
    for share in [
      PartitionShare(guaranteed: -1), PartitionShare(guaranteed: 11), PartitionShare(guaranteed: .max),
      PartitionShare(guaranteed: 2, reserved: 3), PartitionShare(guaranteed: 2, reserved: -1),
      PartitionShare(guaranteed: 2, maximum: 1), PartitionShare(guaranteed: 0, maximum: 0),
      PartitionShare(guaranteed: .min, reserved: .min, maximum: .min),
    ] {
      expectWarning(.invalidArgument) { #expect(!limit.update(shares: ["gold": share])) }
    }
    expectWarning(.invalidArgument) { #expect(!limit.update(others: PartitionShare(guaranteed: 1))) }
    for permits in [0, -1, 4, 1_000_000_001, Int.max] {
      expectWarning(.invalidArgument) { #expect(!limit.update(permits: permits)) }
    }
    expectWarning(.invalidArgument) { #expect(!limit.update(queue: -1)) }
    #expect(limit.permits == 10 && limit.snapshot().partitions.map(\.guaranteed) == [5])
    #expect(limit.update(permits: 1_000_000_000, shares: ["gold": PartitionShare(guaranteed: 1_000_000_000)]))
  }

  @Test func `Impossible arguments are refused`() async {
    await #expect(processExitsWith: .failure) { _ = PartitionedLimit(0) { _ in "" } }
    await #expect(processExitsWith: .failure) {
      _ = PartitionedLimit(1, shares: ["gold": PartitionShare(guaranteed: 2)]) { _ in "" }
    }
  }

  @Test func `Snapshots of limits encode their numbers`() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let snapshots: [any OperationResilienceSnapshot] = [
      ConcurrencyLimit(2, queue: 3, name: "a").snapshot(), RateLimit(2, per: .seconds(1), name: "b").snapshot(),
      AdaptiveLimit(minimum: 1, maximum: 2).snapshot(), PartitionedLimit(3) { _ in "" }.snapshot(),
      AdaptiveThrottle().snapshot(),
    ]
    expect(snapshots.map(\.name), equals: ["a", "b", "AdaptiveLimit", "PartitionedLimit", "AdaptiveThrottle"])
    #expect(snapshots.allSatisfy { !$0.gauges.isEmpty && $0.description.hasPrefix($0.name) })
    expect(
      String(decoding: try encoder.encode(snapshots[0]), as: UTF8.self),
      equals: #"{"active":0,"name":"a","permits":2,"queue":3,"rejections":0,"waiting":0}"#
    )
    for snapshot in snapshots { #expect(try !encoder.encode(snapshot).isEmpty) }
  }
}
