public import OperationCore

extension OperationWarning.Code {
  /// An operation is persisted or journaled, and there is no storage for it.
  public static let noStorage = Self(description: "noStorage")

  /// The path of an operation has an element without a key that is the same in each process.
  public static let unstorablePath = Self(description: "unstorablePath")

  /// A storage could not be read or written.
  public static let storageFailed = Self(description: "storageFailed")

  /// The file of a storage was damaged. It was set aside, and a new one has the entries that could be read.
  public static let storageDamaged = Self(description: "storageDamaged")

  /// A stored value was dropped, because its version or its age does not fit, or its bytes cannot be decoded.
  public static let storedValueDropped = Self(description: "storedValueDropped")

  /// A value could not be encoded, and was not stored.
  public static let valueNotEncoded = Self(description: "valueNotEncoded")

  /// A storage refuses a value, and accepts others. The value is left out until it changes.
  public static let valueNotStored = Self(description: "valueNotStored")

  /// An entry of a journal cannot be read. It is kept.
  public static let journalEntryUnreadable = Self(description: "journalEntryUnreadable")

  /// An entry of a journal has a name for which no mutation is registered. It is kept.
  public static let journalNameUnregistered = Self(description: "journalNameUnregistered")

  /// The arguments of a call of a journal are of a later version of the program. The entry is kept.
  public static let journalVersionUnknown = Self(description: "journalVersionUnknown")

  /// A stored value is of a later version of the program. It is kept, and no other value is stored in its place.
  public static let storedVersionUnknown = Self(description: "storedVersionUnknown")

  /// Two mutations are registered with one name of a journal.
  public static let journalNameTaken = Self(description: "journalNameTaken")

  /// An entry of a journal has become a dead letter, because it has failed too often. It is kept.
  public static let journalDeadLetter = Self(description: "journalDeadLetter")

  /// The time of a call of a journal has passed before it was made. It is kept.
  public static let journalCallExpired = Self(description: "journalCallExpired")

  /// A call that the journal has made again has failed, and there is no caller to throw the error to.
  public static let journalCallFailed = Self(description: "journalCallFailed")

  /// A mutation is journaled inside of its scope, so calls that wait for their turn are not stored.
  public static let journaledInsideScope = Self(description: "journaledInsideScope")

  /// Entries of a sealed storage do not open: they were changed or moved, or another key has sealed them. They are kept.
  public static let sealedEntryUnopened = Self(description: "sealedEntryUnopened")

  /// A sealed storage has entries of a key that it was not given. They are kept.
  public static let sealingKeyUnknown = Self(description: "sealingKeyUnknown")

  /// The base of a sealed storage has calls that are not sealed. They are kept, and not made.
  public static let unsealedCalls = Self(description: "unsealedCalls")
}

extension OperationWarning {
  /// Reports that a storage has failed to do something.
  static func report(storageFailedTo action: String, _ error: any Error) {
    OperationWarning(
      code: .storageFailed,
      severity: .failure,
      message: "The storage failed to \(action): \(ShownText.whole(error))"
    ).report()
  }
}
