import Foundation
import OperationCore
import OperationMutation
import OperationPersistence

let storage = InMemoryStorage()
let id = 1

/// The client of the process that fetches values for another one.
let renderer = OperationClient()

/// The arguments of work at a time.
let renaming: Renaming = sample()
