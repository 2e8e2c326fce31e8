import Crypto
import Operation
import OperationCrypto
import OperationPersistence

let secret: [UInt8] = sample()
