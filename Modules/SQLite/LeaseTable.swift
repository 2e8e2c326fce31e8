#if SwiftOperationSQLite
  internal import Foundation
  internal import GRDB
  internal import OperationCore
  internal import OperationPersistence

  /// The leases of the processes that share a database.
  struct LeaseTable: Sendable {
    let clock: LeaseClock

    func acquire(
      _ name: String,
      owner: String,
      for duration: Duration,
      in database: Database
    ) throws -> StorageLease {
      // Read here, after the wait for other writers.
      let now = self.clock.now()
      // A lease of an earlier start of the machine has ended. One that lasts longer than it was taken for is damaged.
      try database.cachedStatement(sql: "DELETE FROM lease WHERE start <> ? OR end <= ? OR end - ? > duration")
        .execute(arguments: [self.clock.start, now, now])
      let nanoseconds = max(0, Int64(duration.clampedForClock.seconds * 1e9))
      let (name, owner) = (Data(name.utf8), Data(owner.utf8))
      let held = try database.cachedStatement(sql: "SELECT owner, end FROM lease WHERE name = ?")
      if let row = try Row.fetchOne(held, arguments: [name]), let end = Int64.fromDatabaseValue(row[1]),
        self.isHeld(by: Data.fromDatabaseValue(row[0]), besides: owner)
      {
        return .heldByAnother(remaining: .nanoseconds(end - now))
      }
      let put = "INSERT OR REPLACE INTO lease (name, owner, start, end, duration) VALUES (?, ?, ?, ?, ?)"
      try database.cachedStatement(sql: put)
        .execute(arguments: [name, owner, self.clock.start, now + nanoseconds, nanoseconds])
      return .held
    }

    private func isHeld(by other: Data?, besides owner: Data) -> Bool {
      // An owner that cannot be read may live.
      guard let other else { return true }
      return other != owner && !LeaseOwner.hasEnded(String(decoding: other, as: UTF8.self))
    }

    func release(_ name: String, owner: String, in database: Database) throws {
      try database.cachedStatement(sql: "DELETE FROM lease WHERE name = ? AND owner = ?")
        .execute(arguments: [Data(name.utf8), Data(owner.utf8)])
    }
  }
#endif
