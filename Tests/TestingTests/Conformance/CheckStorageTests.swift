import OperationPersistence
import OperationPersistenceTesting
import TestFixtures
import Testing

@Suite(.bounded, .issuesAreExpected) struct CheckStorageTests {
  @Test func `A sound storage keeps the rules`() async throws {
    try await checkStorage(
      reopening: { $0.reopened() },
      obstructing: { $0.obstruct() },
      refusing: { $0.refuse($1) },
      passing: { $0.pass($1) },
      { BrokenStorage() }
    )
  }

  private static let remedyOfOrder = "Make the changes in order: a later one replaces an earlier one of its key."

  private static let remedyOfSplitting =
    "Make all changes of a batch or none, and apply the next batch as if the refused one had not been."

  private static let remedyOfConditions = "Compare the entries, and make all changes of the batch or none."

  private static let versionOfOne = StorageVersion(of: [1], at: "a")

  private static func refusal(_ condition: StorageCondition) -> StorageOutcome { .refused(condition) }

  private static let faults: [(StorageRule, BrokenStorage.Fault, [String])] = [
    (
      .values, .dropsLargeValues,
      [256, 1_000_000].map { count in
        "\(count) bytes were put, and 100 bytes came back. Keep bytes as they are, however few or many."
      }
    ),
    (
      .keys, .comparesStrings,
      [
        // As a string, the Kelvin sign equals the letter K.
        "the key \"K\" was put with [74], and has no entry. Compare keys byte by byte, in their UTF-8.",
        "the key \"\u{E9}\" was put with [128], and has no entry. Compare keys byte by byte, in their UTF-8.",
      ]
    ),
    (
      .replacement, .keepsOldest,
      [
        "the newest change of \"a\" left [2, 2], and there was [1]. \(remedyOfOrder)",
        "the newest change of \"b\" left [4], and there was [3]. \(remedyOfOrder)",
      ]
    ),
    (
      .removal, .removesPrefixes,
      [
        """
        after "a" was removed the keys were ["b"], not ["a/b", "b"]. Remove the entry with that key, and no other; \
        without one there is nothing to do.
        """
      ]
    ),
    (
      .prefix, .foldsCase,
      [
        """
        with the prefix "a" the keys were ["A", "a", "a%b", "a*b", "a/", "a/1", "a/10", "a/2", "a0", "a?b", "a_b", \
        "axb"], not ["a", "a%b", "a*b", "a/", "a/1", "a/10", "a/2", "a0", "a?b", "a_b", "axb"]. Take each byte of the \
        prefix as it is.
        """,
        """
        with the prefix "A" the keys were ["A", "a", "a%b", "a*b", "a/", "a/1", "a/10", "a/2", "a0", "a?b", "a_b", \
        "axb"], not ["A"]. Take each byte of the prefix as it is.
        """,
      ]
    ),
    (
      .order, .keepsInsertionOrder,
      [
        """
        after puts in another order the keys were ["b", "a/2", "a/10", "a", "B", "~", "a!", "1", "10", "2"], not ["1", \
        "10", "2", "B", "a", "a!", "a/10", "a/2", "b", "~"]. Sort by the bytes of the keys.
        """
      ]
    ),
    (
      .visibility, .appliesLate,
      ["after the batch 1 another task found 0 entries. Return from `apply(_:)` after the change."]
    ),
    (
      .failure, .swallows,
      [
        """
        a batch was applied without an error while the storage could not write. Throw the error of the system, and make \
        all changes of a batch or none.
        """
      ]
    ),
    (
      .sizes, .sizesAll,
      [
        """
        the sizes with the prefix "a" have the keys ["a/1", "a/2", "b"], not ["a/1", "a/2"]. Return one for each entry of \
        `entries(withPrefix:)`, in its order.
        """
      ]
    ),
    (
      .sizes, .sizesNothing,
      ["a value of 1000 bytes has the size 0, and one of 10 has 0. Return the size of the newest value."]
    ),
    (
      .failure, .failsHalfway,
      [
        """
        after a batch that has failed the keys were ["a", "b"], not ["a"]. Throw the error of the system, and make all \
        changes of a batch or none.
        """
      ]
    ),
    (
      .emptyBatch, .throwsForNothing,
      ["a batch without changes threw DiskIsFull(). Return without an error and without a change."]
    ),
    (
      .splitting, .refusesNothing,
      ["the batch [\"b\", \"bad\", \"c\"] was applied, and \"bad\" was to be refused. \(remedyOfSplitting)"]
    ),
    (
      .splitting, .staysRefusing,
      ["after a batch with \"bad\", the batch [\"b\"] threw DiskIsFull(). \(remedyOfSplitting)"]
    ),
    (
      .conditions, .ignoresConditions,
      [
        """
        the entry was changed, and the outcome was made, not \(refusal(.unchanged(key: "a", versionOfOne))). \
        \(remedyOfConditions)
        """
      ]
    ),
    (
      .conditions, .comparesOneCondition,
      [
        """
        the second condition did not hold, and the outcome was made, not \(refusal(.absent(key: "a/b"))). \
        \(remedyOfConditions)
        """
      ]
    ),
    (
      .leases, .leasesToAll,
      ["\"a\" held a lease for an hour, and \"b\" got held. Refuse it, with the time until its end."]
    ),
    (
      .leases, .leasesOnce,
      [
        "\"a\" renewed its lease, and got heldByAnother(remaining: 3600.0 seconds). Let an owner renew it."
      ]
    ),
    (
      .leases, .lendsForOthers,
      ["\"b\" released the lease of \"a\", and then got held. Let only its owner release a lease."]
    ),
    (
      .leases, .mixesNames,
      ["a lease with another name was refused: heldByAnother(remaining: 3600.0 seconds). Compare the names."]
    ),
    (
      .leases, .keepsReleased,
      [
        "\"a\" released its lease, and \"b\" got heldByAnother(remaining: 3600.0 seconds). End it at once."
      ]
    ),
    (
      .leases, .showsLeases,
      [
        "with leases the keys were [\"lease\", \"lease\", \"lease\", \"lease 2\"], not []. Keep leases apart from the entries."
      ]
    ),
    (
      .leases, .leasesForever,
      [
        "a lease of 0.02 seconds was over, and \"b\" got heldByAnother(remaining: 0.0 seconds). End it by its time."
      ]
    ),
    (
      .leases, .keepsFirstEnd,
      [
        """
        a lease was renewed for an hour, and "b" got it after 0.02 seconds. Let it last from the renewal.
        """
      ]
    ),
    (.leases, .leasesInTwoSteps, ["8 owners took a lease at once, and 8 got it. Decide in one step."]),
    (
      .closing, .staysOpen,
      ["`entries(withPrefix:)` and `apply(_:)` threw nothing after `close()`. Throw `StorageError.closed(_:)`."]
    ),
  ]

  @Test(arguments: faults.indices)
  func `Each broken rule is found`(index: Int) async throws {
    let (rule, fault, issues) = Self.faults[index]
    let found = try await recordedIssues {
      try await checkStorage(
        [rule],
        obstructing: { $0.obstruct() },
        refusing: { $0.refuse($1) },
        passing: { $0.pass($1) },
        { BrokenStorage(fault) }
      )
    }
    expect(found, equals: issues.map { "The storage breaks the rule '\(rule)': \($0)" })
  }

  @Test func `A batch that is visible in part is found`() async throws {
    let found = try await recordedIssues { try await checkStorage([.atomicity]) { BrokenStorage(.appliesHalves) } }
    expect(found.count, equals: 1)
    let begin =
      "The storage breaks the rule 'atomicity': each batch gives two keys the same value, and a reader found [["
    expect(found.first?.hasPrefix(begin), equals: true, "\(found)")
    expect(found.first?.hasSuffix("]]. Make a batch visible at once."), equals: true, "\(found)")
  }

  @Test func `A large batch that is split is found`() async throws {
    let found = try await recordedIssues {
      try await checkStorage([.atomicity]) { BrokenStorage(.splitsLargeBatches) }
    }
    expect(
      found,
      equals: [
        """
        The storage breaks the rule 'atomicity': a batch has 1500 entries, and a reader found 1000. Do not split a large \
        batch.
        """
      ]
    )
  }

  @Test func `A batch that is lost because of another one is found`() async throws {
    let found = try await recordedIssues { try await checkStorage([.concurrency]) { BrokenStorage(.losesBatches) } }
    expect(found.count, equals: 1)
    let begin = "The storage breaks the rule 'concurrency': 8 tasks put 10 entries each, and "
    expect(found.first?.hasPrefix(begin), equals: true, "\(found)")
  }

  @Test func `Conditions that are compared before another step changes the entries are found`() async throws {
    let found = try await recordedIssues {
      try await checkStorage([.conditions]) { BrokenStorage(.comparesInTwoSteps) }
    }
    expect(found.count, equals: 1)
    let begin = "The storage breaks the rule 'conditions': 8 tasks added 5 to a number, each time on the condition that"
    expect(found.first?.hasPrefix(begin), equals: true, "\(found)")
  }

  @Test func `Entries that are gone after opening again are found`() async throws {
    let found = try await recordedIssues {
      try await checkStorage([.reopening], reopening: { $0.reopened(forgetting: true) }, { BrokenStorage() })
    }
    expect(
      found,
      equals: [
        """
        The storage breaks the rule 'reopening': opened again, it had [], not [a: [7], c: [99]]. Write before `apply(_:)` \
        returns.
        """
      ]
    )
  }

  @Test func `An error of a call that has to succeed is found`() async throws {
    let found = try await recordedIssues {
      try await checkStorage([.order]) {
        let storage = BrokenStorage()
        storage.obstruct()
        return storage
      }
    }
    expect(
      found,
      equals: ["The storage breaks the rule 'order': it threw DiskIsFull(). Throw only what keeps it from working."]
    )
  }

  @Test func `Each rule has a double that breaks it`() {
    let others: [StorageRule] = [.atomicity, .concurrency, .reopening]
    expect(Set(Self.faults.map(\.0) + others), equals: Set(StorageRule.allCases))
  }
}
