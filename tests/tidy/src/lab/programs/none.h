/* Included twice it would be there twice. expect: guard */
int rad__twice;
