import TestFixtures
import Testing

@testable import OperationDerivation

/// What the end of a run looks at, in the orders in which two threads may note their changes around the beginning of a run.
@Suite(.bounded)
struct MissedChangesTests {
  @Test
  func `A change that came while a run was under way is looked at once, at its end`() {
    var changes = MissedChanges()
    _ = changes.note()
    let taken = (changes.take(), changes.take())
    #expect(taken == (true, false))
  }

  @Test
  func `A thread that looks itself leaves nothing for the end of a run`() {
    var changes = MissedChanges()
    let note = changes.note()
    changes.forget(note)
    let isMissed = changes.take()
    #expect(!isMissed)
  }

  @Test
  func `A thread that found no run leaves the note of another one that found one`() {
    var changes = MissedChanges()
    let former = changes.note()
    // A run begins, and has read the source when the other thread changes it.
    _ = changes.note()
    changes.forget(former)
    let isMissed = changes.take()
    #expect(isMissed)
  }
}

/// The revision at which a query was found consistent, when several threads search at once.
@Suite(.bounded)
struct VerificationTests {
  @Test
  func `A slow search does not put the revision back at which a query was found consistent`() {
    let node = DerivationNode(name: "node", keptSources: [])
    let commit = DerivationCommit(readings: [:], hasFailed: false, height: 0)
    _ = node.replaceCommit(with: commit, .consistent, in: DerivationRevision())
    let found = (node.verify(commit, at: 3), node.verify(commit, at: 2))
    #expect(found == (true, true) && node.isVerified(at: 3))
  }
}
