/// The permits of a ``PartitionedLimit`` that belong to one of its partitions, such as a tenant.
public struct PartitionShare: Sendable, Hashable {
  /// The number of permits on which the partition has the first claim.
  ///
  /// Others may borrow them while the partition does not use them. Then it gets them back as their runs end.
  public var guaranteed: Int

  /// The number of the guaranteed permits that are never lent. So many runs of the partition begin at once, always.
  ///
  /// Where all permits of a limit are reserved, runs of partitions without a reserve never begin.
  public var reserved: Int

  /// The highest number of permits that the partition has, with borrowed ones.
  public var maximum: Int

  /// Creates a share.
  ///
  /// - Parameters:
  ///   - guaranteed: The number of permits on which the partition has the first claim, at least 0.
  ///   - reserved: The number of the guaranteed permits that are never lent, from 0 to `guaranteed`.
  ///   - maximum: The highest number of permits, at least 1 and `guaranteed`; all permits of the limit by default.
  public init(guaranteed: Int, reserved: Int = 0, maximum: Int = .max) {
    self.guaranteed = guaranteed
    self.reserved = reserved
    self.maximum = maximum
  }

  /// What is impossible about the share; nil if nothing is.
  func problem(of partition: String) -> String? {
    if self.guaranteed < 0 {
      return "\(self.guaranteed) permits cannot be guaranteed to \(partition). Pass 0 or more."
    }
    if self.reserved < 0 || self.reserved > self.guaranteed {
      return """
        \(self.reserved) of \(self.guaranteed) guaranteed permits cannot be reserved for \(partition). Pass 0 to \
        \(self.guaranteed).
        """
    }
    if self.maximum < 1 || self.maximum < self.guaranteed {
      return """
        \(partition) cannot have at most \(self.maximum) permits. Pass at least 1, and at least the \(self.guaranteed) \
        that are guaranteed.
        """
    }
    return nil
  }
}
